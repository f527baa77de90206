// SPDX-License-Identifier: GPL-3.0-or-later
// @ts-check

import St from 'gi://St';

import {tr} from '../lib/tr.js';
import {aiNotice, sensorNotice, storeNotice} from '../lib/viewModel.js';
import {column, paragraph, row, show} from './text.js';

/** @import {State} from '../lib/state.js' */

const SOURCES = [storeNotice, sensorNotice, aiNotice];

/** What does not work at the moment, a line each. */
export class Notices {
    constructor() {
        this.actor = column('antidrift-notices');
        this._lines = SOURCES.map(notice => {
            const label = paragraph('antidrift-small');
            const actor = row('antidrift-icon-row',
                new St.Icon({icon_name: 'dialog-information-symbolic', style_class: 'antidrift-icon'}), label);
            this.actor.add_child(actor);
            return {notice, label, actor};
        });
    }

    /** @param {State | null} state */
    sync(state) {
        let any = false;
        for (const {notice, label, actor} of this._lines) {
            show(label, state ? notice(state, tr) : '');
            actor.visible = label.visible;
            any ||= label.visible;
        }
        this.actor.visible = any;
    }
}
