// SPDX-License-Identifier: GPL-3.0-or-later
// @ts-check

import Atk from 'gi://Atk';
import St from 'gi://St';

import {SessionError} from '../lib/sessionProxy.js';
import {paragraph, row, show} from './text.js';

/** What went wrong, in one sentence, beside what the person did. One thing is under way at a time. */
export class Fault {
    constructor() {
        this._label = paragraph('antidrift-fault', {accessible_role: Atk.Role.NOTIFICATION});
        const icon = new St.Icon({icon_name: 'dialog-warning-symbolic', style_class: 'antidrift-icon'});
        this.actor = row('antidrift-icon-row', icon, this._label);
        this.isBusy = false;
        this.clear();
    }

    clear() {
        this.say('');
    }

    /** @param {string} sentence */
    say(sentence) {
        show(this._label, sentence);
        this.actor.visible = sentence !== '';
    }

    /**
     * Does what the person asked for, unless the last such thing is not done yet, and says why if it fails.
     *
     * @param {() => Promise<void>} act
     * @returns {Promise<boolean>} whether it was done
     */
    async run(act) {
        if (this.isBusy)
            return false;
        this.isBusy = true;
        try {
            await act();
            this.isBusy = false;
            this.clear();
            return true;
        } catch (error) {
            this.isBusy = false;
            if (!(error instanceof SessionError))
                throw error;
            // Cancelled: the extension is being disabled, and these actors are gone.
            if (error.errorName !== 'Cancelled')
                this.say(error.message);
            return false;
        }
    }
}
