// SPDX-License-Identifier: GPL-3.0-or-later
// @ts-check

/**
 * The window sensor where no other program can see every window: on Wayland.
 *
 * Tells the service which window has the focus, whenever that or the focused title changes, and at no other time. There
 * is nothing to do about a locked screen: the shell disables the extension then.
 */

import GLib from 'gi://GLib';
import Meta from 'gi://Meta';
import Shell from 'gi://Shell';

import {SessionError} from './sessionProxy.js';
import {cut} from './text.js';

/**
 * @import {SessionProxy} from './sessionProxy.js'
 *
 * @typedef {Record<string, string | number | boolean>} Report what ReportFocus takes, before it is packed
 */

// A title that changes again so soon waits for the rest of this time, and only its latest text is sent.
const TITLE_PAUSE_MS = 200;

// What ReportFocus takes, in characters.
const TITLE_CHARS = 1000;
const CLASS_CHARS = 128;
const APP_ID_CHARS = 255;

/** @type {Record<string, (value: any) => GLib.Variant>} */
const PACK = {
    string: text => GLib.Variant.new_string(text),
    number: number => GLib.Variant.new_uint32(number),
    boolean: flag => GLib.Variant.new_boolean(flag),
};

export class WindowReporter {
    /** @param {SessionProxy} session */
    constructor(session) {
        this._session = session;
        /** @type {Meta.Window | null} the focused window, or null for none */
        this._window = null;
        /** @type {string | null} the process of the service that has been told */
        this._told = null;
        /** what it was told last, as text to compare with */
        this._lastReport = '';
        this._failing = false;
        this._pauseId = 0;
        this._idleId = 0;

        global.display.connectObject('notify::focus-window', () => this._syncFocus(), this);
        global.stage.connectObject('notify::key-focus', () => this._syncFocusLater(), this);
        session.connectObject('changed', () => this._syncService(), this);
        this._syncFocus();
        this._syncService();
    }

    destroy() {
        this._session.disconnectObject(this);
        global.display.disconnectObject(this);
        global.stage.disconnectObject(this);
        this._window?.disconnectObject(this);
        this._window = null;
        this._endPause();
        if (this._idleId !== 0)
            GLib.source_remove(this._idleId);
        this._idleId = 0;
        if (this._told !== null)
            this._send({reporting: false});
        this._told = null;
    }

    /** A service that has just come knows nothing yet. */
    _syncService() {
        const instance = this._session.state?.instance ?? null;
        if (instance === this._told)
            return;
        this._told = instance;
        this._lastReport = '';
        this._report();
    }

    _syncFocus() {
        const window = focusedWindow();
        // On X11 the shell takes the focus from the window while it has the keys itself, as with an open menu. The
        // window has not changed by that; whether it has gone meanwhile shows when the shell gives the keys back.
        if (window === this._window || (window === null && global.stage.key_focus !== null))
            return;
        this._window?.disconnectObject(this);
        this._window = window;
        const changed = () => this._reportSoon();
        window?.connectObject(
            'notify::title', changed,
            'notify::wm-class', changed,
            'notify::gtk-application-id', changed,
            this);
        this._report();
    }

    /** The shell gives the focus back to a window only after it has given up the keys. */
    _syncFocusLater() {
        if (this._idleId !== 0 || focusedWindow() === this._window)
            return;
        this._idleId = GLib.idle_add(GLib.PRIORITY_DEFAULT, () => {
            this._idleId = 0;
            this._syncFocus();
            return GLib.SOURCE_REMOVE;
        });
    }

    /** At once, and then at most once per pause: some titles count seconds, or turn a wheel. */
    _reportSoon() {
        if (this._pauseId === 0 && this._report())
            this._startPause();
    }

    _startPause() {
        this._pauseId = GLib.timeout_add(GLib.PRIORITY_DEFAULT, TITLE_PAUSE_MS, () => {
            this._pauseId = 0;
            this._reportSoon();
            return GLib.SOURCE_REMOVE;
        });
    }

    _endPause() {
        if (this._pauseId !== 0)
            GLib.source_remove(this._pauseId);
        this._pauseId = 0;
    }

    /** Whether there was something new to say. */
    _report() {
        if (this._told === null)
            return false;
        const report = this._window === null ? {} : reportOf(this._window);
        const asText = JSON.stringify(report);
        if (asText === this._lastReport)
            return false;
        this._lastReport = asText;
        this._endPause();
        this._send(report);
        return true;
    }

    /**
     * Reports arrive in their order, so none waits for the one before; a failed one is made good by the next.
     *
     * @param {Report} report
     */
    async _send(report) {
        try {
            await this._session.call('ReportFocus', new GLib.Variant('(a{sv})', [packed(report)]), {start: false});
            this._failing = false;
        } catch (error) {
            if (!(error instanceof SessionError))
                throw error;
            this._failed(error.errorName);
        }
    }

    /** @param {string} errorName */
    _failed(errorName) {
        // A service that has gone, or an extension that has been disabled, is no failure.
        if (this._failing || this._told === null)
            return;
        this._failing = true;
        console.warn(`AntiDrift cannot report the focused window: ${errorName}`);
    }
}

/** The window that has the focus; null for none, and for the desktop itself where that is a window. */
function focusedWindow() {
    const window = global.display.focus_window;
    return window?.get_window_type() === Meta.WindowType.DESKTOP ? null : window;
}

/**
 * A dialog counts as the window that it belongs to, whose class
 * it often does not share, under its own title.
 *
 * @param {Meta.Window} window
 */
function reportOf(window) {
    const owner = ownerOf(window);
    const pid = owner.get_pid();
    /** @type {Report} */
    const report = {
        class: cut(owner.get_wm_class() ?? '', CLASS_CHARS),
        title: cut(window.get_title() ?? '', TITLE_CHARS),
        app_id: cut(appIdOf(owner), APP_ID_CHARS),
        window_id: owner.get_stable_sequence(),
    };
    if (pid > 0)
        report.pid = pid;
    return report;
}

/** @param {Report} report */
function packed(report) {
    return Object.fromEntries(Object.entries(report).map(([key, value]) => [key, PACK[typeof value](value)]));
}

/** @param {Meta.Window} window */
function ownerOf(window) {
    let owner = window;
    for (let parent = owner.get_transient_for(); parent !== null; parent = owner.get_transient_for())
        owner = parent;
    return owner;
}

/** @param {Meta.Window} window */
function appIdOf(window) {
    const own = window.get_sandboxed_app_id() || window.get_gtk_application_id();
    if (own)
        return own;
    const tracked = Shell.WindowTracker.get_default().get_window_app(window)?.get_id() ?? '';
    // The tracker numbers windows without a desktop file; such a number means nothing outside of this login.
    return tracked.startsWith('window:') ? '' : tracked;
}
