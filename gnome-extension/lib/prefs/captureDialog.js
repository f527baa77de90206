// SPDX-License-Identifier: GPL-3.0-or-later
// @ts-check

/**
 * Asks the person to press a shortcut.
 */

import Adw from 'gi://Adw';
import Gdk from 'gi://Gdk';
import GObject from 'gi://GObject';
import Gtk from 'gi://Gtk';

import {gettext as _} from 'resource:///org/gnome/Shell/Extensions/js/extensions/prefs.js';

import {pressedAccelerator} from './accelerators.js';

/**
 * Emits 'chosen' with the shortcut, an empty text if there is to be none, and closes.
 */
export const CaptureDialog = GObject.registerClass({
    GTypeName: 'AntiDriftCaptureDialog',
    Signals: {'chosen': {param_types: [GObject.TYPE_STRING]}},
}, class extends Adw.Dialog {
    /**
     * @param {string} title what the shortcut does
     * @param {(accelerator: string) => string} objection why it cannot be had, in one sentence; empty if it can
     */
    constructor(title, objection) {
        super({title, content_width: 400});
        this._objection = objection;

        this._said = new Gtk.Label({
            wrap: true, justify: Gtk.Justification.CENTER, visible: false, css_classes: ['error'],
            accessible_role: Gtk.AccessibleRole.ALERT,
        });
        const content = new Gtk.Box({
            orientation: Gtk.Orientation.VERTICAL, spacing: 18,
            margin_start: 24, margin_end: 24, margin_top: 12, margin_bottom: 24,
        });
        content.append(paragraph(_('Press the new shortcut'), 'title-2'));
        content.append(this._said);
        content.append(paragraph(_('Escape keeps the old one, and Backspace leaves the action without a shortcut.')));
        content.append(paragraph(
            _('The shell keeps its own shortcuts to itself: pressed here, they do what they always do.'), 'dim-label'));

        const view = new Adw.ToolbarView({content});
        view.add_top_bar(new Adw.HeaderBar());
        this.set_child(view);

        const keys = new Gtk.EventControllerKey({propagation_phase: Gtk.PropagationPhase.CAPTURE});
        keys.connect('key-pressed', (_keys, keyval, keycode, state) => this._press(keyval, keycode, state));
        this.add_controller(keys);
    }

    /**
     * @param {number} keyval
     * @param {number} keycode
     * @param {Gdk.ModifierType} state
     */
    _press(keyval, keycode, state) {
        if (!(state & Gtk.accelerator_get_default_mod_mask())) {
            // A bare key is not a shortcut. Escape closes any dialog, and Tab goes to its button.
            if (keyval !== Gdk.KEY_BackSpace)
                return Gdk.EVENT_PROPAGATE;
            this._choose('');
            return Gdk.EVENT_STOP;
        }
        const accelerator = pressedAccelerator(this.get_display(), keycode, state);
        if (accelerator === null)
            return Gdk.EVENT_PROPAGATE;
        const objection = this._objection(accelerator);
        if (objection) {
            this._said.set_label(objection);
            this._said.set_visible(true);
        } else {
            this._choose(accelerator);
        }
        return Gdk.EVENT_STOP;
    }

    /** @param {string} accelerator */
    _choose(accelerator) {
        this.emit('chosen', accelerator);
        this.close();
    }
});

/**
 * @param {string} label
 * @param {...string} css_classes
 */
function paragraph(label, ...css_classes) {
    return new Gtk.Label({label, css_classes, wrap: true, justify: Gtk.Justification.CENTER});
}
