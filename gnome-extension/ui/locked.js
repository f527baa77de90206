// SPDX-License-Identifier: GPL-3.0-or-later
// @ts-check

import GLib from 'gi://GLib';

import {tr} from '../lib/tr.js';
import {clean, fill, isolate} from '../lib/text.js';
import {DEFAULT_MINUTES, commitmentOf, lastTime, planDefaults} from '../lib/viewModel.js';
import {button, buttons, defaultButton} from './button.js';
import {Fault} from './fault.js';
import {Field} from './field.js';
import {column, paragraph, show} from './text.js';

/**
 * @import {Draft} from '../lib/draft.js'
 * @import {SessionProxy} from '../lib/sessionProxy.js'
 * @import {State} from '../lib/state.js'
 */

/** No session: one line and Enter starts one, with defaults that are shown; the rest of a plan is a step away. */
export class Locked {
    /**
     * @param {SessionProxy} session
     * @param {Draft} draft
     * @param {{started: () => void, settled: () => void}} on `settled`: the line was tried, whether or not it started
     */
    constructor(session, draft, on) {
        const {_} = tr;
        this._session = session;
        this._draft = draft;
        this._on = on;
        /** Between the two calls that start a session the service is planning; the person need not see that. */
        this.isStarting = false;

        this._lastTime = paragraph('antidrift-small');
        this._line = new Field(_('What will you do?'), _('One thing, in one line'), {
            changed: text => this._typed(text),
            entered: () => this._start(),
        });
        this._defaults = paragraph('antidrift-small');
        this._fault = new Fault();
        const choices = buttons(
            button(_('Plan…'), () => this.plan()),
            defaultButton(fill(_('Start %d min'), DEFAULT_MINUTES), () => this._start()));
        this.actor = column('antidrift-section',
            this._lastTime, this._line.actor, this._defaults, choices, this._fault.actor);
    }

    /** @param {State} state */
    sync(state) {
        show(this._lastTime, lastTime(state, tr));
        this._line.set(this._draft.text.nextAction);
        this._syncDefaults();
    }

    focus() {
        this._line.focus();
    }

    forgetFault() {
        this._fault.clear();
    }

    /** @param {string} text */
    _typed(text) {
        this._draft.type('nextAction', text);
        this._fault.clear();
        this._syncDefaults();
    }

    _syncDefaults() {
        const {_} = tr;
        const {minutes, successCondition} = planDefaults(this._draft.text.nextAction);
        const defaults = successCondition
            // Translators: the length of a session, and how the person knows that the work is done
            ? fill(_('%d minutes. Done when: %s'), minutes, isolate(successCondition))
            : fill(_('%d minutes; press Enter to start.'), minutes);
        show(this._defaults, defaults);
    }

    async _start() {
        const line = clean(this._draft.text.nextAction);
        if (!line) {
            this._fault.say(tr._('Say what you will do next.'));
            this.focus();
            return;
        }
        this.isStarting = true;
        const started = await this._fault.run(() => this._startAt(line));
        this.isStarting = false;
        if (started) {
            this._draft.clear();
            this._on.started();
        }
        this._on.settled();
    }

    /**
     * From locked to active, or back to locked if that fails.
     *
     * @param {string} line
     */
    async _startAt(line) {
        await this._session.call('EnterPlanning');
        try {
            const commitment = commitmentOf(planDefaults(line));
            await this._session.call('StartCommitment', new GLib.Variant('(ssxas)', commitment));
        } catch (error) {
            await this._session.call('CancelPlanning');
            throw error;
        }
    }

    /** Goes on to the whole plan, which begins with what is on the line. */
    plan() {
        const line = clean(this._draft.text.nextAction);
        if (line)
            this._draft.begin(line);
        this._fault.run(() => this._session.call('EnterPlanning'));
    }
}
