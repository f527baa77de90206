// SPDX-License-Identifier: GPL-3.0-or-later
// @ts-check

/**
 * A word in passing, "right app, wrong work": an ordinary notification that goes by itself and leaves nothing behind.
 */

import Gio from 'gi://Gio';

import {gettext as _} from 'resource:///org/gnome/shell/extensions/extension.js';
import * as Main from 'resource:///org/gnome/shell/ui/main.js';
import * as MessageTray from 'resource:///org/gnome/shell/ui/messageTray.js';

import {nudgeText} from '../lib/viewModel.js';

/**
 * @import {SessionProxy} from '../lib/sessionProxy.js'
 */

/**
 * The nudge that the person has dismissed, or has had the time to read. It outlives the object, because the shell
 * disables the extension while the screen is locked, and the nudge may be the same afterwards.
 */
let heeded = '';

const {EXPIRED, DISMISSED, SOURCE_CLOSED} = MessageTray.NotificationDestroyedReason;

export class Nudge {
    /**
     * @param {SessionProxy} session
     * @param {Gio.Settings} settings
     */
    constructor(session, settings) {
        this._session = session;
        this._settings = settings;
        /** @type {MessageTray.Notification | null} */
        this._notification = null;
        this._text = '';

        session.connectObject('changed', () => this._sync(), this);
        settings.connectObject('changed::show-nudges', () => this._sync(), this);
        this._sync();
    }

    destroy() {
        this._session.disconnectObject(this);
        this._settings.disconnectObject(this);
        this._withdraw();
    }

    _sync() {
        const {state} = this._session;
        const text = state ? nudgeText(state) : '';
        // Only a service that is there can say that the nudge has been cleared; the same one may come again then.
        if (state && text !== heeded)
            heeded = '';
        if (!text || text === heeded || !this._settings.get_boolean('show-nudges'))
            this._withdraw();
        else if (text !== this._text)
            this._show(text);
    }

    /** @param {string} text */
    _show(text) {
        this._withdraw();
        this._text = text;
        const source = new MessageTray.Source({
            title: 'AntiDrift',
            icon: new Gio.FileIcon({
                file: Gio.File.new_for_uri(import.meta.url)
                    .resolve_relative_path('../../icons/antidrift-active-symbolic.svg'),
            }),
        });
        Main.messageTray.add(source);
        this._notification = new MessageTray.Notification({
            source,
            title: _('Heads up'),
            body: withoutLinks(text),
            isTransient: true,
        });
        this._notification.connect('destroy', (_notification, reason) => this._gone(text, reason));
        source.addNotification(this._notification);
    }

    /**
     * @param {string} text
     * @param {MessageTray.NotificationDestroyedReason} reason
     */
    _gone(text, reason) {
        this._notification = null;
        this._text = '';
        // A lock ends its time early.
        if (reason === DISMISSED || (reason === EXPIRED && !Main.sessionMode.isLocked))
            heeded = text;
    }

    /** The source goes with its only notification. */
    _withdraw() {
        this._notification?.destroy(SOURCE_CLOSED);
    }
}

/**
 * The shell makes a link of what looks like one. A text in which an AI, and so an open page, has had its say must not
 * offer anything to click: unseen spaces in an address keep it text.
 *
 * @param {string} text
 */
function withoutLinks(text) {
    return text.replace(/[.:/@](?=\S)/g, '\u200b$&\u200b');
}
