// SPDX-License-Identifier: GPL-3.0-or-later
// @ts-check

/** The button in the panel, and the menu below it. */

import Clutter from 'gi://Clutter';
import Gio from 'gi://Gio';
import St from 'gi://St';

import {ensureActorVisibleInScrollView} from 'resource:///org/gnome/shell/misc/animationUtils.js';
import * as Main from 'resource:///org/gnome/shell/ui/main.js';
import * as PanelMenu from 'resource:///org/gnome/shell/ui/panelMenu.js';

import {draft} from '../lib/draft.js';
import {monotonicMs} from '../lib/sessionProxy.js';
import {tr} from '../lib/tr.js';
import {panelState} from '../lib/viewModel.js';
import {Absent} from './absent.js';
import {Active} from './active.js';
import {Consent} from './consent.js';
import {Locked} from './locked.js';
import {Notices} from './notices.js';
import {Planning} from './planning.js';
import {Review} from './review.js';
import {column} from './text.js';
import {Wake} from './wake.js';

/**
 * @import {Extension} from 'resource:///org/gnome/shell/extensions/extension.js'
 * @import {SessionProxy} from '../lib/sessionProxy.js'
 *
 * @typedef {Locked | Planning | Active | Review | Absent} Section
 */

export class Indicator {
    /**
     * @param {Extension} extension
     * @param {SessionProxy} session
     * @param {Gio.Settings} settings
     */
    constructor(extension, session, settings) {
        this._session = session;
        this._settings = settings;
        this._icons = extension.dir.get_child('icons');
        this._label = new Wake();

        this._button = new PanelMenu.Button(0.5, 'AntiDrift');
        this._icon = new St.Icon({style_class: 'system-status-icon'});
        this._time = new St.Label({y_align: Clutter.ActorAlign.CENTER, y_expand: true});
        const box = new St.BoxLayout({style_class: 'panel-status-menu-box'});
        box.add_child(this._icon);
        box.add_child(this._time);
        this._button.add_child(box);
        this._menu = /** @type {import('resource:///org/gnome/shell/ui/popupMenu.js').PopupMenu} */ (this._button.menu);
        this._buildMenu();

        Main.panel.addToStatusArea(extension.uuid, this._button, 0, settings.get_string('panel-position'));
        // After the panel's own handler, which gives the focus to the menu as a whole.
        this._menu.connect('open-state-changed', (_menu, isOpen) => this._openChanged(isOpen));
        session.connectObject('changed', () => this._sync(), this);
        settings.connectObject('changed::show-time', () => this._syncPanel(), this);
        this._sync();
    }

    destroy() {
        this._session.disconnectObject(this);
        this._settings.disconnectObject(this);
        this._label.cancel();
        this._active.stopTicking();
        this._button.destroy();
    }

    /** Opens the menu, or closes it. */
    toggle() {
        this._menu.toggle();
    }

    /** Opens the menu where a session can be planned. */
    open() {
        this._menu.open(true);
    }

    _buildMenu() {
        const close = () => this._menu.close(true);
        this._locked = new Locked(this._session, draft, {started: close, settled: () => this._sync()});
        this._planning = new Planning(this._session, draft, {started: close});
        this._active = new Active(this._session);
        this._review = new Review(this._session);
        this._absent = new Absent(this._session);
        this._sections = [this._locked, this._planning, this._active, this._review, this._absent];
        /** @type {Section} */
        this._shown = this._absent;
        this._consent = new Consent(this._session);
        this._notices = new Notices();

        const content = column('antidrift-menu',
            ...this._sections.map(({actor}) => actor), this._consent.actor, this._notices.actor);
        const scroll = new St.ScrollView({
            style_class: 'vfade',
            hscrollbar_policy: St.PolicyType.NEVER,
            vscrollbar_policy: St.PolicyType.AUTOMATIC,
            overlay_scrollbars: true,
            child: content,
        });
        this._menu.box.add_child(scroll);
        this._menu.box.add_style_class_name('antidrift-box');
        followFocus(scroll, content);
    }

    /** @param {boolean} isOpen */
    _openChanged(isOpen) {
        if (isOpen) {
            this._planning.prepare();
            this._absent.prepare();
            this._sync();
            this._active.startTicking();
            this._focusSection();
        } else {
            this._active.stopTicking();
            [...this._sections, this._consent].forEach(part => part.forgetFault());
        }
    }

    _sync() {
        this._syncPanel();
        this._syncMenu();
    }

    _syncPanel() {
        const {icon, accessibleName, showTime} = panelState(this._session.presence, this._session.state, tr);
        if (icon !== this._iconName) {
            this._iconName = icon;
            this._icon.gicon = new Gio.FileIcon({file: this._icons.get_child(`antidrift-${icon}-symbolic.svg`)});
        }
        this._button.accessible_name = accessibleName;
        this._time.visible = showTime && this._settings.get_boolean('show-time');
        this._syncTime();
    }

    /** Wakes up when the text changes: once a minute, and in the last one once a second. */
    _syncTime() {
        const {countdown} = this._session;
        this._label.cancel();
        if (!countdown || !this._time.visible)
            return;
        this._time.text = countdown.label(monotonicMs(), tr);
        const ms = countdown.msToNextLabel(monotonicMs());
        if (ms !== null)
            this._label.after(ms, () => this._syncTime());
    }

    _syncMenu() {
        const {presence, state} = this._session;
        const section = this._section();
        for (const other of this._sections)
            other.actor.visible = other === section;
        if (section === this._absent)
            this._absent.sync(presence);
        else if (state)
            /** @type {Exclude<Section, Absent>} */ (section).sync(state);
        this._consent.sync(state);
        this._notices.sync(state);
        const hasChanged = section !== this._shown;
        this._shown = section;
        this._keepFocus(hasChanged);
    }

    /** @returns {Section} */
    _section() {
        const {state} = this._session;
        if (!state)
            return this._absent;
        if (state.runtime_state === 'planning' && this._locked.isStarting)
            return this._locked;
        return {
            locked: this._locked, planning: this._planning, active: this._active, review: this._review,
        }[state.runtime_state];
    }

    /**
     * What had the focus may have been hidden, and a menu without focus cannot be worked by keyboard.
     *
     * @param {boolean} hasChanged whether another section is shown
     */
    _keepFocus(hasChanged) {
        if (!this._menu.isOpen)
            return;
        const focus = global.stage.key_focus;
        if (hasChanged || !focus || !focus.mapped || !this._menu.actor.contains(focus))
            this._focusSection();
    }

    /** In what is to be filled in, the first entry; else the menu itself, from where Tab leads to the first button. */
    _focusSection() {
        if ('focus' in this._shown)
            this._shown.focus();
        else
            this._menu.actor.grab_key_focus();
    }
}

/**
 * Scrolls to what gets the focus, which Tab alone does not do.
 *
 * @param {St.ScrollView} scroll
 * @param {Clutter.Actor} content
 */
function followFocus(scroll, content) {
    global.stage.connectObject('notify::key-focus', () => {
        const focus = global.stage.key_focus;
        if (focus && content.contains(focus))
            ensureActorVisibleInScrollView(scroll, focus);
    }, scroll);
}
