// SPDX-License-Identifier: GPL-3.0-or-later
// @ts-check

/**
 * A plan that is being typed. It outlives the menu, and a lock and unlock of the screen, which disables the extension.
 *
 * A field that the person has typed into is theirs: a proposal fills in the others only, and only once.
 */

import {DEFAULT_MINUTES, minutesFrom} from './viewModel.js';

/** @import {Plan} from './viewModel.js' */

/** @typedef {'intent' | 'nextAction' | 'successCondition' | 'minutes'} Field what is typed */

const EMPTY = {intent: '', nextAction: '', successCondition: '', minutes: String(DEFAULT_MINUTES)};

export class Draft {
    constructor() {
        /** @type {Record<Field, string>} */
        this.text = {...EMPTY};
        /** @type {string[]} window classes that are on task as a whole */
        this.allowed = [];
        /** @type {Set<Field | 'allowed'>} what the person has decided themselves */
        this._theirs = new Set();
        this._filledFor = '';
    }

    /** Forgets the plan. A proposal that was filled in is not filled in again. */
    clear() {
        this.text = {...EMPTY};
        this.allowed = [];
        this._theirs.clear();
    }

    /**
     * The person has typed; a field that they have emptied is up for a proposal again.
     *
     * @param {Field} field
     * @param {string} text
     */
    type(field, text) {
        this.text[field] = text;
        if (text.trim())
            this._theirs.add(field);
        else
            this._theirs.delete(field);
    }

    /**
     * The person allows an app, or no longer.
     *
     * @param {string} windowClass
     * @param {boolean} allowed
     */
    allow(windowClass, allowed) {
        this._theirs.add('allowed');
        this.allowed = this.allowed.filter(other => other !== windowClass);
        if (allowed)
            this.allowed.push(windowClass);
    }

    /**
     * A line that says what to do, typed before there was a plan, or picked from the tasks: both a rough idea for the
     * coach, and what will be done if the coach is not asked.
     *
     * @param {string} line
     */
    begin(line) {
        this.type('intent', line);
        this.text.nextAction = line;
        this._theirs.delete('nextAction');
    }

    /**
     * Fills in what the person has left open.
     *
     * @param {string} proposal which one it is; the same one is filled in once
     * @param {Plan} plan
     * @returns {boolean} whether it was new
     */
    fill(proposal, plan) {
        if (proposal === this._filledFor)
            return false;
        this._filledFor = proposal;
        this._offer('nextAction', plan.nextAction);
        this._offer('successCondition', plan.successCondition);
        this._offer('minutes', String(plan.minutes));
        if (!this._theirs.has('allowed'))
            this.allowed = [...plan.allowedClasses];
        return true;
    }

    /** The plan as it stands; the minutes are null where they are no number that can be meant. */
    plan() {
        return {
            nextAction: this.text.nextAction,
            successCondition: this.text.successCondition,
            minutes: minutesFrom(this.text.minutes),
            allowedClasses: [...this.allowed],
        };
    }

    /**
     * @param {Field} field
     * @param {string} text
     */
    _offer(field, text) {
        if (!this._theirs.has(field))
            this.text[field] = text;
    }
}

/** The one plan of the person at this desktop. Plain data: it holds no object of the shell. */
export const draft = new Draft();
