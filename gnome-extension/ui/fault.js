// SPDX-License-Identifier: GPL-3.0-or-later
// @ts-check

import {SessionError} from '../lib/sessionProxy.js';
import {Remark} from './remark.js';

/** What went wrong, in one sentence, beside what the person did. One thing is under way at a time. */
export class Fault {
    constructor() {
        this._remark = new Remark('', 'dialog-warning-symbolic');
        this._isBusy = false;
        this.actor = this._remark.actor;
    }

    clear() {
        this._remark.say('');
    }

    /** @param {string} sentence */
    say(sentence) {
        this._remark.say(sentence);
    }

    /**
     * Does what the person asked for, unless the last such thing is not done yet, and says why if it fails.
     *
     * @param {() => Promise<unknown>} act
     * @returns {Promise<boolean>} whether it was done
     */
    async run(act) {
        if (this._isBusy)
            return false;
        this._isBusy = true;
        try {
            await act();
            this._isBusy = false;
            this.clear();
            return true;
        } catch (error) {
            this._isBusy = false;
            if (!(error instanceof SessionError))
                throw error;
            // Cancelled: the extension has been disabled, and the label is gone.
            if (error.errorName !== 'Cancelled')
                this.say(error.message);
            return false;
        }
    }
}
