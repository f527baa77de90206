// SPDX-License-Identifier: GPL-3.0-or-later
// @ts-check

import * as Main from 'resource:///org/gnome/shell/ui/main.js';
import {Extension} from 'resource:///org/gnome/shell/extensions/extension.js';

import {SessionError, SessionProxy} from './lib/sessionProxy.js';
import {Shortcuts} from './lib/shortcuts.js';
import {WindowReporter} from './lib/windowReporter.js';
import {Indicator} from './ui/indicator.js';
import {Interrupt} from './ui/interrupt.js';
import {Nudge} from './ui/nudge.js';

export default class AntiDriftExtension extends Extension {
    enable() {
        this._settings = this.getSettings();
        this._session = new SessionProxy();
        this._indicator = new Indicator(this, this._session, this._settings);
        this._interrupt = new Interrupt(this._session, this._settings);
        this._nudge = new Nudge(this._session, this._settings);
        this._windowReporter = new WindowReporter(this._session);
        this._shortcuts = new Shortcuts(this._settings, {
            openMenu: () => this._indicator?.toggle(),
            plan: () => this._indicator?.plan(),
            complete: () => this._complete(),
            onTask: () => this._ask('OnTask'),
            refocus: () => this._ask('Refocus'),
        });
        this._settings.connectObject('changed::panel-position', () => this._moveIndicator(), this);
        this._session.start();
    }

    disable() {
        this._settings?.disconnectObject(this);
        this._shortcuts?.destroy();
        this._shortcuts = null;
        this._windowReporter?.destroy();
        this._windowReporter = null;
        this._nudge?.destroy();
        this._nudge = null;
        this._interrupt?.destroy();
        this._interrupt = null;
        this._indicator?.destroy();
        this._indicator = null;
        this._session?.destroy();
        this._session = null;
        this._settings = null;
    }

    /** A button of the panel cannot move from one box of it to another. */
    _moveIndicator() {
        if (!this._session || !this._settings)
            return;
        this._indicator?.destroy();
        this._indicator = new Indicator(this, this._session, this._settings);
    }

    async _complete() {
        if (await this._ask('Complete'))
            this._indicator?.open();
    }

    /**
     * Does what a shortcut asks for, and says why where it cannot be done: there is no menu beside which to say it.
     *
     * @param {string} member
     * @returns {Promise<boolean>} whether it was done
     */
    async _ask(member) {
        try {
            await this._session?.call(member);
            return true;
        } catch (error) {
            if (!(error instanceof SessionError))
                throw error;
            if (error.errorName !== 'Cancelled')
                Main.notify(this.metadata.name, error.message);
            return false;
        }
    }
}
