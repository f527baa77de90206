// SPDX-License-Identifier: GPL-3.0-or-later
// @ts-check

import {tr} from '../lib/tr.js';
import {aiNotice, sensorNotice, storeNotice} from '../lib/viewModel.js';
import {Remark} from './remark.js';
import {column} from './text.js';

/** @import {State} from '../lib/state.js' */

/** What does not work at the moment, a line each. */
export class Notices {
    constructor() {
        this._remarks = [storeNotice, sensorNotice, aiNotice].map(notice => ({
            notice, remark: new Remark('antidrift-small', 'dialog-information-symbolic'),
        }));
        this.actor = column('antidrift-notices', ...this._remarks.map(({remark}) => remark.actor));
    }

    /** @param {State | null} state */
    sync(state) {
        // Then the AI's fault is said beside what it was asked.
        const isSaid = state?.coach?.status === 'error';
        for (const {notice, remark} of this._remarks)
            remark.say(state && !(isSaid && notice === aiNotice) ? notice(state, tr) : '');
        this.actor.visible = this._remarks.some(({remark}) => remark.actor.visible);
    }
}
