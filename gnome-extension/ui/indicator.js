// SPDX-License-Identifier: GPL-3.0-or-later
// @ts-check

import Clutter from 'gi://Clutter';
import Gio from 'gi://Gio';
import St from 'gi://St';

import {PopupAnimation} from 'resource:///org/gnome/shell/ui/boxpointer.js';
import * as Main from 'resource:///org/gnome/shell/ui/main.js';
import * as PanelMenu from 'resource:///org/gnome/shell/ui/panelMenu.js';

import {monotonicMs} from '../lib/sessionProxy.js';
import {tr} from '../lib/tr.js';
import {panelState} from '../lib/viewModel.js';
import {MenuContent} from './menuContent.js';
import {row} from './text.js';
import {Wake} from './wake.js';

/**
 * @import {Extension} from 'resource:///org/gnome/shell/extensions/extension.js'
 * @import {PopupMenu} from 'resource:///org/gnome/shell/ui/popupMenu.js'
 * @import {SessionProxy} from '../lib/sessionProxy.js'
 */

/** The button in the panel, and its menu: how it stands, in a shape and in words, and the time that is left. */
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
        this._iconName = '';
        this._nextTime = new Wake();

        this._icon = new St.Icon({style_class: 'system-status-icon'});
        this._time = new St.Label({y_align: Clutter.ActorAlign.CENTER});
        this._button = new PanelMenu.Button(0.5, 'AntiDrift');
        this._button.add_child(row('panel-status-menu-box', this._icon, this._time));
        Main.panel.addToStatusArea(extension.uuid, this._button, 0, settings.get_string('panel-position'));

        this._menu = /** @type {PopupMenu} */ (this._button.menu);
        // Built when the button is in the panel: the panel's own handler, which gives the focus to the menu as a whole,
        // must come first.
        this._content = new MenuContent(this._menu, session);

        session.connectObject('changed', () => this._sync(), this);
        settings.connectObject('changed::show-time', () => this._sync(), this);
        this._sync();
    }

    destroy() {
        this._session.disconnectObject(this);
        this._settings.disconnectObject(this);
        this._nextTime.cancel();
        this._content.destroy();
        this._button.destroy();
    }

    toggle() {
        this._menu.toggle();
    }

    open() {
        this._menu.open(PopupAnimation.FULL);
    }

    /** Opens the menu, with the whole plan where there is no session. */
    plan() {
        this.open();
        this._content.plan();
    }

    _sync() {
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
        this._nextTime.cancel();
        if (!countdown || !this._time.visible)
            return;
        const now = monotonicMs();
        this._time.text = countdown.label(now, tr);
        const ms = countdown.msToNextLabel(now);
        if (ms !== null)
            this._nextTime.after(ms, () => this._syncTime());
    }
}
