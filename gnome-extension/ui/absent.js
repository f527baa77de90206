// SPDX-License-Identifier: GPL-3.0-or-later
// @ts-check

import {SessionError} from '../lib/sessionProxy.js';
import {tr} from '../lib/tr.js';
import {newerSentence} from '../lib/viewModel.js';
import {defaultButton} from './button.js';
import {Fault} from './fault.js';
import {column, paragraph, show} from './text.js';

/**
 * @import {SessionProxy} from '../lib/sessionProxy.js'
 * @import {Presence} from '../lib/viewModel.js'
 */

/** No state to show: there is no service, or none yet, or a newer one. */
export class Absent {
    /** @param {SessionProxy} session */
    constructor(session) {
        this._session = session;
        this._isActivatable = false;
        this._title = paragraph('antidrift-title');
        this._hint = paragraph('antidrift-small');
        this._fault = new Fault();
        this._start = defaultButton(tr._('Start AntiDrift'), () => this._fault.run(() => session.activate()));
        this.actor = column('antidrift-section', this._title, this._hint, this._start, this._fault.actor);
    }

    /** @param {Presence} presence */
    sync(presence) {
        const {_} = tr;
        const isAbsent = presence === 'absent';
        show(this._title, {
            absent: _('AntiDrift is not running'),
            connecting: _('Connecting to AntiDrift…'),
            newer: newerSentence(tr),
            present: '',
        }[presence]);
        show(this._hint, isAbsent && !this._isActivatable
            ? _('Start the AntiDrift service, or install it if it is not installed.')
            : '');
        this._start.visible = isAbsent && this._isActivatable;
    }

    /** Asks whether the service can be started from here. */
    async prepare() {
        try {
            this._isActivatable = await this._session.activatable();
        } catch (error) {
            if (!(error instanceof SessionError))
                throw error;
            if (error.errorName === 'Cancelled')
                return;
            this._isActivatable = false;
        }
        this.sync(this._session.presence);
    }

    forgetFault() {
        this._fault.clear();
    }
}
