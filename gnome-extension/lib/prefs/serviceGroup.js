// SPDX-License-Identifier: GPL-3.0-or-later
// @ts-check

/**
 * What the service says about itself. Looking does not start it, and nothing here changes it.
 */

import Adw from 'gi://Adw';
import Gio from 'gi://Gio';
import GLib from 'gi://GLib';
import GObject from 'gi://GObject';

import {gettext as _, ngettext} from 'resource:///org/gnome/Shell/Extensions/js/extensions/prefs.js';

import {StateError, isKnownSchema, parseState} from '../state.js';
import {clean, fill} from '../text.js';
import {aiConsent, aiProgram, newerSentence} from '../viewModel.js';
import {ConfigFileRow} from './configFileRow.js';

const BUS_NAME = 'org.antidrift.Session';
const OBJECT_PATH = '/org/antidrift/Session';

const tr = {_, ngettext};

export const ServiceGroup = GObject.registerClass({
    GTypeName: 'AntiDriftServiceGroup',
}, class extends Adw.PreferencesGroup {
    /** @param {Adw.PreferencesWindow} window whose closing ends it */
    constructor(window) {
        super({title: _('Service')});
        this._status = propertyRow(_('Status'));
        this._ai = propertyRow(_('AI program'));
        this.add(this._status);
        this.add(this._ai);
        this.add(new ConfigFileRow(window));
        this._show(_('Looking for it…'), '');

        /** @type {Gio.DBusProxy | null} */
        this._proxy = null;
        /** @type {number[]} */
        this._handlers = [];
        this._cancellable = new Gio.Cancellable();
        window.connect('close-request', () => this._end());
        Gio.DBusProxy.new(
            Gio.DBus.session, Gio.DBusProxyFlags.DO_NOT_AUTO_START, null, BUS_NAME, OBJECT_PATH, BUS_NAME,
            this._cancellable, (_source, result) => this._begin(result));
    }

    /** @param {Gio.AsyncResult} result */
    _begin(result) {
        try {
            this._proxy = Gio.DBusProxy.new_finish(result);
        } catch (error) {
            this._fail(error);
            return;
        }
        this._handlers = [
            this._proxy.connect('notify::g-name-owner', () => this._fetch()),
            this._proxy.connect('g-signal', (_proxy, _sender, signal, parameters) => {
                if (signal === 'StateChanged')
                    this._take(() => parameters);
            }),
        ];
        this._fetch();
    }

    _fetch() {
        if (!this._proxy?.g_name_owner) {
            this._show(_('Not running'), '');
            return;
        }
        const flags = Gio.DBusCallFlags.NO_AUTO_START;
        this._proxy.call('GetState', null, flags, -1, this._cancellable, (proxy, result) => {
            this._take(() => /** @type {Gio.DBusProxy} */ (proxy).call_finish(result));
        });
    }

    /** @param {() => GLib.Variant} finish gives a tuple with the state, or throws why there is none */
    _take(finish) {
        let state;
        try {
            state = parseState(/** @type {[string]} */ (finish().deepUnpack())[0]);
        } catch (error) {
            this._fail(error);
            return;
        }
        const version = this._proxy?.get_cached_property('Version')?.deepUnpack();
        const running = version ? fill(_('Running, version %s'), clean(String(version))) : _('Running');
        if (isKnownSchema(state))
            this._show(running, [aiProgram(state, tr), aiConsent(state, tr)].filter(said => said).join('\n'));
        else
            this._show(newerSentence(tr), '');
    }

    /**
     * @param {string} status
     * @param {string} ai
     */
    _show(status, ai) {
        this._status.set_subtitle(status);
        this._ai.set_subtitle(ai);
        this._ai.set_visible(ai !== '');
    }

    /** @param {unknown} error */
    _fail(error) {
        if (!(error instanceof GLib.Error || error instanceof StateError))
            throw error;
        const isClosed = error instanceof GLib.Error && error.matches(Gio.IOErrorEnum, Gio.IOErrorEnum.CANCELLED);
        if (!isClosed)
            this._show(_('It does not answer'), '');
    }

    _end() {
        this._cancellable.cancel();
        this._handlers.forEach(id => this._proxy?.disconnect(id));
        this._handlers = [];
        this._proxy = null;
        return false;
    }
});

/** @param {string} title */
function propertyRow(title) {
    return new Adw.ActionRow({title, use_markup: false, subtitle_selectable: true, css_classes: ['property']});
}
