// SPDX-License-Identifier: GPL-3.0-or-later
// @ts-check

/**
 * The service on the session bus: its state as it was last heard, and calls to its methods.
 *
 * Nothing here waits in the shell's main loop, and nothing starts the service but what the person asks for.
 */

import Gio from 'gi://Gio';
import GLib from 'gi://GLib';

import {EventEmitter} from 'resource:///org/gnome/shell/misc/signals.js';

import {Countdown} from './countdown.js';
import {refusalSentence} from './faults.js';
import {StateError, isKnownSchema, parseState} from './state.js';
import {tr} from './tr.js';

/**
 * @import {State} from './state.js'
 * @import {Presence} from './viewModel.js'
 */

export const BUS_NAME = 'org.antidrift.Session';
const OBJECT_PATH = '/org/antidrift/Session';
const INTERFACE = 'org.antidrift.Session';

// A service that is being started reads its files first; longer than this, something is wrong.
const REPLY_MS = 15_000;

// How the errors of D-Bus itself are called here.
const OF_THE_BUS = new Map([['NameHasNoOwner', 'Absent'], ['Timeout', 'TimedOut']]);

/** A call that did not succeed. `message` is one sentence for the person. */
export class SessionError extends Error {
    /**
     * @param {string} errorName the last part of the D-Bus error's name, or 'Absent', 'TimedOut', 'Cancelled'
     * @param {string} message
     */
    constructor(errorName, message) {
        super(message);
        this.name = 'SessionError';
        this.errorName = errorName;
    }
}

/**
 * Emits 'changed' when `presence` or `state` has changed.
 *
 * `presence` is 'connecting' until the bus has said whether there is a service and that has told its state, and 'newer'
 * if this version of the extension does not understand it. There is a `state` only while 'present'.
 */
export class SessionProxy extends EventEmitter {
    constructor() {
        super();
        /** @type {Presence} */
        this.presence = 'connecting';
        /** @type {State | null} */
        this.state = null;
        /** @type {Countdown | null} the time left of the session, on GLib's monotonic clock in milliseconds */
        this.countdown = null;
        /** @type {Gio.DBusProxy | null} */
        this._proxy = null;
        this._cancellable = new Gio.Cancellable();
    }

    /** Looks for the service, from now on until `destroy`. */
    start() {
        const flags = Gio.DBusProxyFlags.DO_NOT_AUTO_START | Gio.DBusProxyFlags.DO_NOT_LOAD_PROPERTIES;
        Gio.DBusProxy.new(
            Gio.DBus.session, flags, null, BUS_NAME, OBJECT_PATH, INTERFACE, this._cancellable,
            (_source, result) => this._begin(result));
    }

    /** Cancels every call that is under way; nothing is emitted afterwards. */
    destroy() {
        this._cancellable.cancel();
        this._proxy?.disconnectObject(this);
        this._proxy = null;
        this.disconnectAll();
    }

    /**
     * Calls a method of the service.
     *
     * @param {string} member
     * @param {GLib.Variant | null} [parameters] its arguments, as a tuple
     * @param {{start?: boolean}} [options] `start`: start the service if it is not running. Only for what the person
     *     has asked for.
     * @returns {Promise<unknown>} the first value of the reply, if it has one
     * @throws {SessionError}
     */
    call(member, parameters = null, {start = true} = {}) {
        const flags = start ? Gio.DBusCallFlags.NONE : Gio.DBusCallFlags.NO_AUTO_START;
        return this._send(BUS_NAME, OBJECT_PATH, INTERFACE, member, parameters, flags);
    }

    /**
     * Whether the bus knows how to start the service.
     *
     * @returns {Promise<boolean>}
     * @throws {SessionError}
     */
    async activatable() {
        const names = /** @type {string[]} */ (await this._askBus('ListActivatableNames', null));
        return names.includes(BUS_NAME);
    }

    /**
     * Starts the service.
     *
     * @throws {SessionError}
     */
    async activate() {
        await this._askBus('StartServiceByName', new GLib.Variant('(su)', [BUS_NAME, 0]));
    }

    /** @param {Gio.AsyncResult} result */
    _begin(result) {
        try {
            this._proxy = Gio.DBusProxy.new_finish(result);
        } catch (error) {
            if (!isCancelled(error))
                console.error(error);
            return;
        }
        this._proxy.connectObject(
            'notify::g-name-owner', () => this._ownerChanged(),
            'g-signal', (
                /** @type {Gio.DBusProxy} */ _proxy,
                /** @type {string | null} */ _sender,
                /** @type {string} */ name,
                /** @type {GLib.Variant} */ parameters,
            ) => {
                if (name === 'StateChanged')
                    this._take(/** @type {[string]} */ (parameters.deepUnpack())[0]);
            },
            this);
        this._ownerChanged();
    }

    /** Another owner is another process, about which nothing is known yet. */
    _ownerChanged() {
        const present = Boolean(this._proxy?.g_name_owner);
        this._show(present ? 'connecting' : 'absent', null);
        if (present)
            this.refresh();
    }

    /** Asks for the state as of now: time that passes in one window is not announced. */
    async refresh() {
        if (!this._proxy?.g_name_owner)
            return;
        try {
            this._take(/** @type {string} */ (await this.call('GetState', null, {start: false})));
        } catch (error) {
            // Where it has left, that is announced too; where it fails, a later StateChanged mends it.
            if (!(error instanceof SessionError))
                throw error;
        }
    }

    /**
     * A reply and signals may cross, so what is older than what is shown is dropped.
     *
     * @param {string} json
     */
    _take(json) {
        let state;
        try {
            state = parseState(json);
        } catch (error) {
            if (!(error instanceof StateError))
                throw error;
            console.warn(`AntiDrift: what the service sent cannot be read: ${error.message}`);
            return;
        }
        const isOlder = this.state !== null && state.instance === this.state.instance && state.seq < this.state.seq;
        if (isOlder)
            return;
        if (isKnownSchema(state))
            this._show('present', state);
        else
            this._show('newer', null);
    }

    /**
     * @param {Presence} presence
     * @param {State | null} state
     */
    _show(presence, state) {
        this.presence = presence;
        this.state = state;
        const commitment = state?.commitment ?? null;
        this.countdown = commitment && new Countdown(commitment.remaining_ms, commitment.running, monotonicMs());
        this.emit('changed');
    }

    /**
     * @param {string} member
     * @param {GLib.Variant | null} parameters
     */
    _askBus(member, parameters) {
        const name = 'org.freedesktop.DBus';
        return this._send(name, '/org/freedesktop/DBus', name, member, parameters, Gio.DBusCallFlags.NONE);
    }

    /**
     * @param {string} name
     * @param {string} path
     * @param {string} iface
     * @param {string} member
     * @param {GLib.Variant | null} parameters
     * @param {Gio.DBusCallFlags} flags
     * @returns {Promise<unknown>}
     */
    _send(name, path, iface, member, parameters, flags) {
        return new Promise((resolve, reject) => {
            Gio.DBus.session.call(
                name, path, iface, member, parameters, null, flags, REPLY_MS, this._cancellable,
                (connection, result) => {
                    try {
                        const reply = /** @type {Gio.DBusConnection} */ (connection).call_finish(result);
                        resolve(/** @type {unknown[]} */ (reply.deepUnpack())[0]);
                    } catch (error) {
                        reject(sessionError(/** @type {GLib.Error} */ (error)));
                    }
                });
        });
    }
}

/** Now, on the clock of `SessionProxy.countdown`. */
export function monotonicMs() {
    return GLib.get_monotonic_time() / 1000;
}

/** @param {unknown} error */
function isCancelled(error) {
    return error instanceof GLib.Error && error.matches(Gio.IOErrorEnum, Gio.IOErrorEnum.CANCELLED);
}

/** @param {GLib.Error} error */
function sessionError(error) {
    if (isCancelled(error))
        return new SessionError('Cancelled', '');
    if (error.matches(Gio.IOErrorEnum, Gio.IOErrorEnum.TIMED_OUT))
        return new SessionError('TimedOut', refusalSentence('TimedOut', '', tr));
    const last = Gio.DBusError.get_remote_error(error)?.split('.').pop() ?? '';
    const name = OF_THE_BUS.get(last) ?? last;
    Gio.DBusError.strip_remote_error(error);
    return new SessionError(name, refusalSentence(name, error.message, tr));
}
