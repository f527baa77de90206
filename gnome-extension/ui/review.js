// SPDX-License-Identifier: GPL-3.0-or-later
// @ts-check

import {tr} from '../lib/tr.js';
import {evidenceBars, nextAction, outcomeTitle, recapText, switchesText, takeAlong} from '../lib/viewModel.js';
import {Bars} from './bars.js';
import {defaultButton} from './button.js';
import {Fault} from './fault.js';
import {column, line, paragraph, row, show} from './text.js';

/**
 * @import {SessionProxy} from '../lib/sessionProxy.js'
 * @import {State} from '../lib/state.js'
 */

/** After a session: ten seconds to look back. */
export class Review {
    /** @param {SessionProxy} session */
    constructor(session) {
        const {_} = tr;
        this._session = session;
        this._outcome = paragraph('antidrift-title');
        this._what = paragraph('antidrift-small');
        this._recap = paragraph('');
        this._takeAlong = paragraph('antidrift-small');
        this._switches = line('antidrift-small');
        this._bars = new Bars();
        this._time = column('antidrift-field',
            row('antidrift-row', line('antidrift-caption', {text: _('Where the time went'), x_expand: true}),
                this._switches),
            this._bars.actor);
        this._fault = new Fault();
        this.actor = column('antidrift-section',
            this._outcome, this._what, this._recap, this._takeAlong, this._time,
            defaultButton(_('End'), () => this._end()), this._fault.actor);
    }

    /** @param {State} state */
    sync(state) {
        const bars = evidenceBars(state, tr);
        show(this._outcome, outcomeTitle(state, tr));
        show(this._what, nextAction(state));
        show(this._recap, recapText(state, tr));
        this._recap.opacity = state.reflection?.status === 'ready' ? 255 : 180;
        show(this._takeAlong, takeAlong(state, tr));
        show(this._switches, switchesText(state, tr));
        this._bars.sync(bars);
        this._time.visible = bars.length > 0;
    }

    forgetFault() {
        this._fault.clear();
    }

    _end() {
        this._fault.run(() => this._session.call('End'));
    }
}
