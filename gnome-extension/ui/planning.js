// SPDX-License-Identifier: GPL-3.0-or-later
// @ts-check

import GLib from 'gi://GLib';
import Shell from 'gi://Shell';

import {clean} from '../lib/text.js';
import {tr} from '../lib/tr.js';
import {
    appName, coachNotice, commitmentOf, knowledgeNotice, lastTime, planProblem, proposedPlan, taskTexts, tasksNotice,
} from '../lib/viewModel.js';
import {button, buttons, defaultButton} from './button.js';
import {Chips} from './chips.js';
import {Fault} from './fault.js';
import {Field} from './field.js';
import {Minutes} from './minutes.js';
import {Remark} from './remark.js';
import {Tasks} from './tasks.js';
import {column, line, paragraph, row, show} from './text.js';

/**
 * @import {Draft, Field as FieldName} from '../lib/draft.js'
 * @import {SessionProxy} from '../lib/sessionProxy.js'
 * @import {State} from '../lib/state.js'
 * @import {Plan} from '../lib/viewModel.js'
 */

// As many running apps are offered as fit in about three rows.
const MAX_OFFERED = 8;

/** The plan in full: a rough idea that the coach may sharpen, the fields of a commitment, tasks, and allowed apps. */
export class Planning {
    /**
     * @param {SessionProxy} session
     * @param {Draft} draft
     * @param {{started: () => void, cancelled: () => void}} on `cancelled`: nothing is left of the draft
     */
    constructor(session, draft, on) {
        const {_} = tr;
        this._session = session;
        this._draft = draft;
        this._on = on;
        const start = () => this._start();
        const into = (/** @type {FieldName} */ field) => ({
            changed: (/** @type {string} */ text) => this._typed(field, text),
            entered: start,
        });

        /** @type {Set<string>} window classes */
        this._offered = new Set();
        this._lastTime = paragraph('antidrift-small');

        this._intent = new Field(_('Rough idea'), _('For the AI to sharpen'), {
            ...into('intent'),
            entered: () => this._sharpen(),
        });
        this._sharpenButton = button(_('Sharpen'), () => this._sharpen(), {x_expand: false});
        this._intent.actor.remove_child(this._intent.entry);
        this._intent.actor.add_child(row('antidrift-row', this._intent.entry, this._sharpenButton));
        this._coachNotice = new Remark('antidrift-small', '');
        this._coachFault = new Fault();
        this._coach = column('antidrift-field', this._intent.actor, this._coachNotice.actor, this._coachFault.actor);

        this._nextAction = new Field(_('Next action'), _('One thing you can start now'), into('nextAction'));
        this._tasks = new Tasks(task => this._pick(task));
        this._tasksNotice = paragraph('antidrift-small');
        this._successCondition = new Field(_('Done when'), '', into('successCondition'));
        this._minutes = new Minutes(
            {caption: _('Minutes'), less: _('Fewer minutes'), more: _('More minutes')}, into('minutes'));
        this._chips = new Chips((windowClass, isOn) => this._draft.allow(windowClass, isOn));
        this._apps = column('antidrift-field', line('antidrift-caption', {text: _('Allowed apps')}), this._chips.actor);
        this._knowledgeNotice = paragraph('antidrift-small');

        this._fault = new Fault();
        const choices = buttons(button(_('Cancel'), () => this._cancel()), defaultButton(_('Start session'), start));
        this.actor = column('antidrift-section',
            this._lastTime, this._coach, this._nextAction.actor, this._tasks.actor, this._tasksNotice,
            this._successCondition.actor, this._minutes.actor, this._apps, this._knowledgeNotice,
            choices, this._fault.actor);
    }

    /** @param {State} state */
    sync(state) {
        const isPending = state.coach?.status === 'pending';
        const proposal = proposedPlan(state);
        if (proposal)
            this._draft.fill(`${state.instance}/${state.coach?.request_id}`, proposal);

        show(this._lastTime, lastTime(state, tr));
        this._coach.visible = state.ai.available;
        this._coachNotice.setIcon(isPending ? 'content-loading-symbolic' : 'dialog-warning-symbolic');
        this._coachNotice.say(coachNotice(state, tr));
        this._tasks.sync(taskTexts(state));
        show(this._tasksNotice, tasksNotice(state, tr));
        show(this._knowledgeNotice, state.ai.available ? knowledgeNotice(state, tr) : '');
        this._syncDraft();
    }

    /** Where the person has something to say first. */
    focus() {
        if (this._coach.visible && !this._draft.text.nextAction)
            this._intent.focus();
        else
            this._nextAction.focus();
    }

    forgetFault() {
        this._fault.clear();
        this._coachFault.clear();
    }

    _syncDraft() {
        const {text} = this._draft;
        this._intent.set(text.intent);
        this._nextAction.set(text.nextAction);
        this._successCondition.set(text.successCondition);
        this._successCondition.setHint(clean(text.nextAction) || tr._('How will you know?'));
        this._minutes.set(text.minutes);
        this._syncChips();
    }

    /** What is allowed, then what could be: the apps with a window. */
    _syncChips() {
        const allowed = new Set(this._draft.allowed);
        for (const windowClass of allowed)
            this._offered.add(windowClass);
        const chips = [...this._offered].map(windowClass => ({
            id: windowClass, label: appName(windowClass, tr), isOn: allowed.has(windowClass),
        }));
        this._chips.sync(chips);
        this._apps.visible = chips.length > 0;
    }

    /** Looks for running apps; while the menu is open the offer stays as it is. */
    prepare() {
        // By name, because a proposal and a window may call the same app differently.
        const byName = new Map([...runningClasses(), ...this._draft.allowed].map(found => [appName(found, tr), found]));
        this._offered = new Set([...this._draft.allowed, ...byName.values()].slice(0, MAX_OFFERED));
    }

    /**
     * @param {FieldName} field
     * @param {string} text
     */
    _typed(field, text) {
        this._draft.type(field, text);
        this._fault.clear();
        if (field === 'nextAction')
            this._successCondition.setHint(clean(text) || tr._('How will you know?'));
    }

    /** @param {string} task */
    _pick(task) {
        this._draft.begin(task);
        this._syncDraft();
        this._nextAction.focus();
    }

    _sharpen() {
        const intent = clean(this._draft.text.intent);
        if (!intent) {
            this._coachFault.say(tr._('Say roughly what you want to do.'));
            this._intent.focus();
            return;
        }
        this._coachFault.run(() => this._session.call('RequestCoach', new GLib.Variant('(s)', [intent])));
    }

    async _start() {
        const plan = /** @type {Plan} */ (this._draft.plan());
        const problem = planProblem(plan, tr);
        if (problem) {
            this._fault.say(problem);
            return;
        }
        const commitment = new GLib.Variant('(ssxas)', commitmentOf(plan));
        const started = await this._fault.run(() => this._session.call('StartCommitment', commitment));
        if (started) {
            this._draft.clear();
            this._on.started();
        }
    }

    async _cancel() {
        const cancelled = await this._fault.run(() => this._session.call('CancelPlanning'));
        if (cancelled) {
            this._draft.clear();
            this._on.cancelled();
        }
    }
}

/** The window classes of the apps that have a window, the one used last first. */
function runningClasses() {
    const classes = Shell.AppSystem.get_default().get_running()
        .map(app => app.get_windows()[0]?.get_wm_class())
        .filter(windowClass => windowClass);
    return /** @type {string[]} */ (classes);
}
