// SPDX-License-Identifier: GPL-3.0-or-later
// @ts-check

/**
 * The keyboard shortcuts, and how to change them.
 */

import Adw from 'gi://Adw';
import GLib from 'gi://GLib';
import GObject from 'gi://GObject';
import Gtk from 'gi://Gtk';

import {gettext as _} from 'resource:///org/gnome/Shell/Extensions/js/extensions/prefs.js';

import {fill} from '../text.js';
import {isSame, stockUse} from './accelerators.js';
import {CaptureDialog} from './captureDialog.js';

/** @import Gio from 'gi://Gio' */

/** @param {Gio.Settings} settings */
export function shortcutsPage(settings) {
    const page = new Adw.PreferencesPage({title: _('Shortcuts'), icon_name: 'input-keyboard-symbolic'});
    page.add(new ShortcutsGroup(settings));
    return page;
}

const ShortcutsGroup = GObject.registerClass({
    GTypeName: 'AntiDriftShortcutsGroup',
}, class extends Adw.PreferencesGroup {
    /** @param {Gio.Settings} settings */
    constructor(settings) {
        super({title: _('Keyboard shortcuts'), description: _('They work everywhere but on the lock screen.')});
        this._settings = settings;
        /** What each one does, by its key in the settings. */
        this._titles = new Map([
            ['shortcut-menu', _('Open the menu')],
            ['shortcut-plan', _('Plan a session')],
            ['shortcut-on-task', _('This is on task')],
            ['shortcut-refocus', _('Back to task')],
            ['shortcut-complete', _('Complete the session')],
        ]);
        this._isAsking = false;
        for (const [key, title] of this._titles)
            this.add(this._row(key, title));
    }

    /**
     * @param {string} key
     * @param {string} title
     */
    _row(key, title) {
        const row = new Adw.ActionRow({title, activatable: true});
        const reset = new Gtk.Button({
            icon_name: 'edit-undo-symbolic',
            tooltip_text: _('Restore the default'),
            valign: Gtk.Align.CENTER,
            css_classes: ['flat'],
        });
        const shown = shortcutLabel();
        row.add_suffix(reset);
        row.add_suffix(shown);
        // A screen reader says with the row what describes it, which by itself is the subtitle that is not there.
        row.update_relation([Gtk.AccessibleRelation.DESCRIBED_BY], [Gtk.AccessibleList.new_from_list([shown])]);

        const follow = () => {
            if (this._isAsking)
                return;
            const [accelerator = ''] = this._settings.get_strv(key);
            shown.set_accelerator(accelerator);
            shown.update_property([Gtk.AccessibleProperty.DESCRIPTION], [inWords(accelerator)]);
            reset.set_visible(this._settings.get_user_value(key) !== null);
        };
        follow();
        this._settings.connect(`changed::${key}`, follow);
        reset.connect('clicked', () => this._settings.reset(key));
        row.connect('activated', () => this._ask(key, title));
        return row;
    }

    /**
     * While the person presses a shortcut ours are switched off: otherwise the shell takes them, and pressing one opens
     * the menu.
     *
     * @param {string} key
     * @param {string} title
     */
    _ask(key, title) {
        const keys = [...this._titles.keys()];
        const inUse = new Map(keys.map(each => [each, this._settings.get_strv(each)]));
        /** @type {Map<string, GLib.Variant | null>} null: the default */
        const kept = new Map(keys.map(each => [each, this._settings.get_user_value(each)]));

        const dialog = new CaptureDialog(title, accelerator => {
            const other = keys.find(each => each !== key && inUse.get(each)?.some(used => isSame(used, accelerator)));
            const use = other ? this._titles.get(other) : stockUse(accelerator);
            // Translators: a keyboard shortcut, and what it does already
            return use ? fill(_('%s is already used for “%s”.'), inWords(accelerator), use) : '';
        });
        dialog.connect('chosen', (_dialog, accelerator) => {
            kept.set(key, new GLib.Variant('as', accelerator ? [accelerator] : []));
        });
        dialog.connect('closed', () => {
            this._isAsking = false;
            for (const [each, value] of kept) {
                if (value === null)
                    this._settings.reset(each);
                else
                    this._settings.set_value(each, value);
            }
        });
        this._isAsking = true;
        keys.forEach(each => this._settings.set_strv(each, []));
        dialog.present(this);
    }
});

/** The keys as caps, in the widget that libadwaita has for it since 1.8, and GTK before. */
function shortcutLabel() {
    const properties = {disabled_text: _('None'), valign: Gtk.Align.CENTER};
    return Adw.ShortcutLabel ? new Adw.ShortcutLabel(properties) : new Gtk.ShortcutLabel(properties);
}

/** @param {string} accelerator */
function inWords(accelerator) {
    const [known, keyval, modifiers] = Gtk.accelerator_parse(accelerator);
    return known && keyval ? Gtk.accelerator_get_label(keyval, modifiers ?? 0) : _('None');
}
