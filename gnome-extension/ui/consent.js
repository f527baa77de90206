// SPDX-License-Identifier: GPL-3.0-or-later
// @ts-check

import GLib from 'gi://GLib';

import {tr} from '../lib/tr.js';
import {aiQuestion} from '../lib/viewModel.js';
import {button, buttons} from './button.js';
import {Fault} from './fault.js';
import {column, paragraph, show} from './text.js';

/**
 * @import {SessionProxy} from '../lib/sessionProxy.js'
 * @import {State} from '../lib/state.js'
 */

/** The one question whether an AI may see window titles. It is there until it has been answered, and asks once. */
export class Consent {
    /** @param {SessionProxy} session */
    constructor(session) {
        const {_} = tr;
        this._session = session;
        this._question = paragraph('');
        this._fault = new Fault();
        this.actor = column('antidrift-section antidrift-question',
            this._question,
            buttons(button(_('No'), () => this._answer(false)), button(_('Yes'), () => this._answer(true))),
            this._fault.actor);
    }

    /** @param {State | null} state */
    sync(state) {
        const question = state ? aiQuestion(state, tr) : '';
        show(this._question, question);
        this.actor.visible = question !== '';
    }

    forgetFault() {
        this._fault.clear();
    }

    /** @param {boolean} allowed */
    _answer(allowed) {
        this._fault.run(() => this._session.call('AllowAI', new GLib.Variant('(b)', [allowed])));
    }
}
