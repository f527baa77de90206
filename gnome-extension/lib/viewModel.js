// SPDX-License-Identifier: GPL-3.0-or-later
// @ts-check

/**
 * What the state says to the person: every sentence, bar and default that the menu, the panel and the banners show.
 *
 * Pure functions over a state that `parseState` has let through. One that finds nothing to say returns an empty text,
 * so that a label is visible exactly when it has something to show. Text from outside is always cleaned, and isolated
 * where it stands inside a sentence of ours; the result is plain text, never markup.
 */

import {duration, spokenDuration} from './duration.js';
import {faultSentence} from './faults.js';
import {isKnownSchema} from './state.js';
import {clean, cut, fill, isolate} from './text.js';

/**
 * @import {Proposal, State} from './state.js'
 * @import {Tr} from './translate.js'
 *
 * @typedef {'connecting' | 'absent' | 'present' | 'newer'} Presence
 * @typedef {'absent' | 'idle' | 'planning' | 'active' | 'drifting' | 'away' | 'review'} PanelIcon
 *
 * @typedef {object} Plan what a person fills in before a session
 * @property {string} nextAction
 * @property {string} successCondition
 * @property {number} minutes
 * @property {string[]} allowedClasses
 *
 * @typedef {object} Bar
 * @property {string} name
 * @property {number} secs
 * @property {number} share of the longest bar, above 0 and up to 1
 * @property {string} label how long, in short
 * @property {string} accessibleName name and how long, as a sentence
 */

// The limits of StartCommitment.
const FIELD_CHARS = 500;
const MAX_MINUTES = 24 * 60;
export const DEFAULT_MINUTES = 25;

// A name inside a sentence or beside a bar; labels cut the rest by their width.
const NAME_CHARS = 60;
const REASON_CHARS = 300;

/** A shorter time away is not worth a line of its own in the menu of a session. */
const TOLD_SECS = 60;

/* Where it stands */

/**
 * The panel button. `icon` differs in shape, not only in colour, and `accessibleName` says the same in words.
 *
 * @param {Presence} presence says why there is no state
 * @param {State | null} state
 * @param {Tr} tr
 * @returns {{icon: PanelIcon, accessibleName: string, showTime: boolean}}
 */
export function panelState(presence, state, tr) {
    const {_} = tr;
    const icon = panelIcon(state);
    const said = {
        absent: absence(presence, tr),
        idle: _('no session'),
        planning: _('planning'),
        active: _('session running'),
        drifting: _('session running, drifting'),
        away: _('session running, away'),
        review: _('session over, time to look back'),
    };
    // Translators: the name of the panel button for a screen reader, such as "AntiDrift: session running"
    return {icon, accessibleName: fill(_('AntiDrift: %s'), said[icon]), showTime: isRunning(icon)};
}

/**
 * @param {Presence} presence
 * @param {Tr} tr
 */
function absence(presence, tr) {
    if (presence === 'newer')
        return newerSentence(tr);
    return presence === 'absent' ? tr._('not running') : tr._('connecting');
}

/**
 * @param {State | null} state
 * @returns {PanelIcon}
 */
function panelIcon(state) {
    if (state === null || !isKnownSchema(state))
        return 'absent';
    if (state.runtime_state !== 'active')
        return state.runtime_state === 'locked' ? 'idle' : state.runtime_state;
    if (state.away?.active)
        return 'away';
    return state.drift?.status === 'drifting' ? 'drifting' : 'active';
}

/** @param {PanelIcon} icon */
function isRunning(icon) {
    return icon === 'active' || icon === 'drifting' || icon === 'away';
}

/** @param {Tr} tr */
export function newerSentence({_}) {
    return _('The AntiDrift service is newer than this extension. Update the extension.');
}

/* Planning */

/**
 * The last session's takeaway; empty where there is none.
 *
 * @param {State} state
 * @param {Tr} tr
 */
export function lastTime(state, {_}) {
    const takeaway = isolate(state.reflection?.carry_forward ?? '', REASON_CHARS);
    return takeaway && fill(_('Last time: %s'), takeaway);
}

/**
 * How one typed line becomes a plan that can be started as it is.
 *
 * @param {string} text
 * @returns {Plan}
 */
export function planDefaults(text) {
    const line = cut(clean(text), FIELD_CHARS);
    return {nextAction: line, successCondition: line, minutes: DEFAULT_MINUTES, allowedClasses: []};
}

/**
 * The coach's proposal as a plan; null while there is none. Fill it in once per `coach.request_id`.
 *
 * @param {State} state
 * @returns {Plan | null}
 */
export function proposedPlan(state) {
    const proposal = state.coach?.proposal ?? null;
    return proposal && planOf(proposal);
}

/** @param {Proposal} proposal */
function planOf(proposal) {
    return {
        nextAction: cut(clean(proposal.next_action), FIELD_CHARS),
        successCondition: cut(clean(proposal.success_condition), FIELD_CHARS),
        minutes: Math.min(Math.max(Math.round(proposal.timebox_secs / 60), 1), MAX_MINUTES),
        allowedClasses: [...proposal.allowed_window_classes],
    };
}

/**
 * The minutes that a person has typed, from 1 to 1440; null if it is no such number.
 *
 * @param {string} text
 */
export function minutesFrom(text) {
    const minutes = /^\s*\d{1,4}\s*$/.test(text) ? Number(text) : NaN;
    return minutes >= 1 && minutes <= MAX_MINUTES ? minutes : null;
}

/**
 * What is wrong with the plan as it stands; empty if it can be started.
 *
 * @param {Plan & {minutes: number | null}} plan
 * @param {Tr} tr
 */
export function planProblem(plan, {_}) {
    if (!clean(plan.nextAction))
        return _('Say what you will do next.');
    if (plan.minutes === null)
        return fill(_('The minutes are a number from 1 to %d.'), MAX_MINUTES);
    return '';
}

/**
 * The arguments of StartCommitment: next action, success condition, timebox in seconds, allowed window classes. A
 * condition that was left empty is the action itself.
 *
 * @param {Plan} plan
 * @returns {[string, string, number, string[]]}
 */
export function commitmentOf(plan) {
    const action = cut(clean(plan.nextAction), FIELD_CHARS);
    const condition = cut(clean(plan.successCondition), FIELD_CHARS) || action;
    return [action, condition, plan.minutes * 60, plan.allowedClasses];
}

/**
 * What the coach is doing, or why it cannot.
 *
 * @param {State} state
 * @param {Tr} tr
 */
export function coachNotice(state, tr) {
    const coach = state.coach;
    if (coach?.status === 'pending')
        return tr._('Sharpening…');
    return coach?.status === 'error' ? faultSentence(coach.error, tr) : '';
}

/**
 * Today's tasks, ready to be shown and picked.
 *
 * @param {State} state
 */
export function taskTexts(state) {
    return (state.tasks?.items ?? []).map(task => clean(task.text)).filter(text => text);
}

/**
 * @param {State} state
 * @param {Tr} tr
 */
export function tasksNotice(state, tr) {
    const fault = faultSentence(state.tasks?.error ?? null, tr);
    return fault && fill(tr._('Tasks: %s'), fault);
}

/**
 * @param {State} state
 * @param {Tr} tr
 */
export function knowledgeNotice(state, tr) {
    const fault = faultSentence(state.knowledge?.error ?? null, tr);
    return fault && fill(tr._('Profile: %s'), fault);
}

/* Active */

/** @param {State} state */
export function nextAction(state) {
    return clean(state.commitment?.next_action ?? '');
}

/**
 * How the person knows that it is done; empty if they said no more than what it is.
 *
 * @param {State} state
 * @param {Tr} tr
 */
export function doneWhen(state, {_}) {
    const condition = isolate(state.commitment?.success_condition ?? '');
    return condition === isolate(nextAction(state)) ? '' : condition && fill(_('Done when: %s'), condition);
}

/**
 * The focused window, judged, in one sentence; empty while nothing is known about it.
 *
 * @param {State} state
 * @param {Tr} tr
 */
export function driftSentence(state, tr) {
    const {_} = tr;
    const drift = state.drift;
    const reason = isolate(drift?.reason ?? '', REASON_CHARS);
    const about = subjectName(state, tr);
    switch (drift?.status) {
    case 'drifting':
        if (about && reason)
            // Translators: the app or site that has the focus, and why it is off task
            return fill(_('Drifting – %s: %s'), about, reason);
        return about || reason ? fill(_('Drifting – %s'), about || reason) : _('Drifting');
    case 'ontask':
        return about ? fill(_('On task – %s'), about) : _('On task');
    case 'pending':
        return _('Looking at this window…');
    default:
        return '';
    }
}

/**
 * The app, or the site in a browser, that the drift status is about, isolated; empty where there is none.
 *
 * @param {State} state
 * @param {Tr} tr
 */
function subjectName(state, tr) {
    const subject = state.drift?.subject;
    if (!subject)
        return '';
    return isolate(subject.site, NAME_CHARS) || isolate(appName(subject.class, tr), NAME_CHARS);
}

/**
 * Why the time may be standing still; while the person is there, how long they were away, unless it was in passing.
 *
 * @param {State} state
 * @param {Tr} tr
 */
export function awaySentence(state, tr) {
    const {_} = tr;
    const away = state.away;
    if (!away?.active || away.cause === null) {
        const secs = away?.total_secs ?? 0;
        // Translators: a duration, such as "12 min", of the session that is running
        return secs < TOLD_SECS ? '' : fill(_('Away for %s so far.'), duration(secs, tr));
    }
    const cause = {
        idle: _('no keyboard or pointer used'),
        lock: _('screen locked'),
        sleep: _('asleep'),
        unobserved: _('AntiDrift was not running'),
    }[away.cause];
    const time = away.since_ms !== null && tr.time ? tr.time(away.since_ms) : '';
    // Translators: the time of day, and why nobody is taken to be there
    const said = time ? fill(_('Away since %s: %s.'), time, cause) : fill(_('Away: %s.'), cause);
    return away.paused ? fill(_('%s The time waits.'), said) : said;
}

/**
 * The banner for a drift that goes on.
 *
 * @param {State} state
 * @param {Tr} tr
 * @returns {{title: string, body: string}}
 */
export function interruptText(state, tr) {
    const {_} = tr;
    const action = isolate(nextAction(state), NAME_CHARS);
    const about = subjectName(state, tr);
    const reason = isolate(state.drift?.reason ?? '', REASON_CHARS);
    // Translators: what the person has set out to do
    const title = fill(_('Still on “%s”?'), action);
    if (about && reason)
        // Translators: an app or a site, and why it is off task
        return {title, body: fill(_('%s: %s'), about, reason)};
    return {title, body: about ? fill(_('%s does not look like it.'), about) : reason};
}

/**
 * The nudge, "right app, wrong work"; empty where there is none. It is remembered as dismissed by this text.
 *
 * @param {State} state
 */
export function nudgeText(state) {
    return clean(state.drift?.nudge ?? '');
}

/* Review */

/**
 * @param {State} state
 * @param {Tr} tr
 */
export function outcomeTitle(state, {_}) {
    switch (state.outcome) {
    case 'completed':
        return _('Completed');
    case 'expired':
        return _('Time is up');
    case 'interrupted':
        return _('Interrupted');
    default:
        return '';
    }
}

/**
 * The look-back, or why there is none yet; empty where nobody was asked for one.
 *
 * @param {State} state
 * @param {Tr} tr
 */
export function recapText(state, {_}) {
    switch (state.reflection?.status) {
    case 'pending':
        return _('The look-back is being written…');
    case 'absent':
        return _('There is no look-back: the AI gave no answer.');
    case 'ready':
        return clean(state.reflection.recap);
    default:
        return '';
    }
}

/**
 * @param {State} state
 * @param {Tr} tr
 */
export function takeAlong(state, {_}) {
    const takeaway = isolate(state.reflection?.carry_forward ?? '', REASON_CHARS);
    return takeaway && fill(_('Take along: %s'), takeaway);
}

/* Where the time went */

/** An absence, or a desktop without a window, that was shorter is in passing and tells nobody anything. */
const PASSING_SECS = 10;

/**
 * The time per app, the most first: at most `max` bars, of which the last gathers what would not fit. Away is a bar of
 * its own, so that the bars add up to the session, but for what was in passing.
 *
 * @param {State} state
 * @param {Tr} tr
 * @param {{max?: number, away?: boolean}} [options]
 * @returns {Bar[]}
 */
export function evidenceBars(state, tr, {max = 6, away = true} = {}) {
    const {_} = tr;
    const other = _('Other windows');
    const noApp = [_('No window'), _('Away')];
    /** @type {Map<string, number>} */
    const secsOf = new Map();
    const add = (/** @type {string} */ name, /** @type {number} */ secs) => {
        if (secs > 0)
            secsOf.set(name, (secsOf.get(name) ?? 0) + secs);
    };
    for (const bucket of state.evidence?.buckets ?? [])
        add(bucket.class === '(other)' ? other : appName(bucket.class, tr), bucket.secs);
    if (away)
        add(_('Away'), state.away?.total_secs ?? 0);

    let rows = [...secsOf]
        .filter(([name, secs]) => secs >= PASSING_SECS || !noApp.includes(name))
        .sort(([, a], [, b]) => b - a);
    if (rows.length > max) {
        // The time away is no window: it keeps its own bar, however short.
        const gone = rows.filter(([name]) => name === _('Away'));
        const named = rows.filter(row => row[0] !== other && !gone.includes(row)).slice(0, max - 1 - gone.length);
        const own = rows.filter(row => named.includes(row) || gone.includes(row));
        const rest = rows.filter(row => !own.includes(row)).reduce((sum, [, secs]) => sum + secs, 0);
        rows = [...own, [other, rest]];
    }
    const longest = Math.max(...rows.map(([, secs]) => secs));
    return rows.map(([name, secs]) => ({
        name,
        secs,
        share: secs / longest,
        label: duration(secs, tr),
        // Translators: an app and how long it had the focus, such as "Firefox, 6 minutes"
        accessibleName: fill(_('%s, %s'), isolate(name), spokenDuration(secs, tr)),
    }));
}

/**
 * How often the focus moved from one window to another; empty if it did not.
 *
 * @param {State} state
 * @param {Tr} tr
 */
export function switchesText(state, {ngettext}) {
    const count = state.evidence?.switch_count ?? 0;
    return count > 0 ? fill(ngettext('%d switch', '%d switches', count), count) : '';
}

/**
 * A window class as people know it: as the desktop calls the app, else the last part of a reverse-DNS name such as
 * "org.gnome.TextEditor".
 *
 * @param {string} windowClass
 * @param {Tr} tr
 */
export function appName(windowClass, tr) {
    if (windowClass === '(none)')
        return tr._('No window');
    const known = clean(tr.appName?.(windowClass) ?? '');
    if (known)
        return known;
    const name = clean(windowClass).replace(/\.desktop$/i, '');
    const parts = name.split('.');
    const last = parts.length > 2 && parts.every(part => part) && !name.includes(' ') ? parts[parts.length - 1] : name;
    return last.charAt(0).toUpperCase() + last.slice(1);
}

/* What does not work, in any state */

/**
 * The question whether an AI may see window titles, while it has not been answered and there is an AI to ask.
 *
 * @param {State} state
 * @param {Tr} tr
 */
export function aiQuestion(state, {_}) {
    if (!state.ai.available || state.ai.consent !== 'unasked')
        return '';
    return fill(_('May %s see window titles, to tell work from drift?'), isolate(state.ai.backend, NAME_CHARS));
}

/**
 * @param {State} state
 * @param {Tr} tr
 */
export function aiNotice(state, tr) {
    const {_} = tr;
    const fault = faultSentence(state.ai.error, tr);
    if (!fault || state.ai.backend === 'none')
        return '';
    const said = fill(_('AI: %s'), fault);
    if (state.ai.retry_at_ms === null || !tr.time)
        return said;
    // Translators: what is wrong with the AI, and the time of day from which on it is asked again
    return fill(_('%s Asked again from %s on.'), said, tr.time(state.ai.retry_at_ms));
}

/**
 * Which AI program the service asks, or why it cannot.
 *
 * @param {State} state
 * @param {Tr} tr
 */
export function aiProgram(state, tr) {
    const {_} = tr;
    if (state.ai.backend === 'none')
        return _('None. Everything works without one.');
    const backend = isolate(state.ai.backend, NAME_CHARS);
    const fault = faultSentence(state.ai.error, tr);
    // Translators: the name of an AI program, and what is wrong with it
    return fault ? fill(_('%s: %s'), backend, fault) : backend;
}

/**
 * The answer to `aiQuestion`; empty where there is no AI to see anything.
 *
 * @param {State} state
 * @param {Tr} tr
 */
export function aiConsent(state, {_}) {
    const {backend, available, consent} = state.ai;
    if (backend === 'none' || (consent === 'unasked' && !available))
        return '';
    return {
        given: _('It may see window titles.'),
        refused: _('It may not see window titles.'),
        unasked: _('Whether it may see window titles is asked in the menu.'),
    }[consent];
}

/**
 * What the window sensor cannot see. Without a reason it has only just been started.
 *
 * @param {State} state
 * @param {Tr} tr
 */
export function sensorNotice(state, tr) {
    const {_} = tr;
    const evidence = state.evidence;
    if (!evidence || evidence.health === 'ok' || evidence.error === null)
        return '';
    const what = evidence.health === 'absent' ? _('No windows are seen: %s') : _('Not every window is seen: %s');
    return fill(what, faultSentence(evidence.error, tr));
}

/**
 * @param {State} state
 * @param {Tr} tr
 */
export function storeNotice(state, tr) {
    const fault = faultSentence(state.store.error, tr);
    return fault && fill(tr._('Files: %s'), fault);
}
