// SPDX-License-Identifier: GPL-3.0-or-later
// @ts-check

/**
 * What is wrong, in one sentence for the person: degraded parts of the state, and calls that were refused.
 *
 * The service speaks English and names the particulars ("The program claude was not found."). Where there is a
 * translation, the person gets that, by the code; where there is none, the service's own sentence says more than ours.
 */

import {clean} from './text.js';

/**
 * @import {Fault} from './state.js'
 * @import {Tr} from './translate.js'
 */

/** @param {(text: string) => string} _ marks what is to be translated, or translates it */
const faults = _ => ({
    unavailable: _('No AI program can be used.'),
    not_logged_in: _('The AI program is not logged in.'),
    timed_out: _('The AI program gave no answer in time.'),
    rate_limited: _('The AI program has been asked too often.'),
    offline: _('The AI program has no connection.'),
    failed: _('The AI program failed.'),
    empty_response: _('The AI program ended without an answer.'),
    no_json: _('The answer of the AI could not be read.'),
    invalid_answer: _('The answer of the AI made no sense.'),
    no_display: _('There is no display to watch.'),
    display_lost: _('The display cannot be reached.'),
    partial_view: _('Only some windows can be seen.'),
    window_unreadable: _('The focused window cannot be read.'),
    disk_full: _('The disk is full.'),
    read_only: _('The folder of AntiDrift cannot be written to.'),
    io_error: _('The files of AntiDrift cannot be written.'),
    snapshot_damaged: _('The stored session was damaged and has been set aside.'),
    audit_torn: _('The last entry of the record was incomplete and has been set aside.'),
    audit_broken: _('The record of past sessions has been tampered with or damaged.'),
    not_found: _('It was not found.'),
    unreadable: _('It cannot be read.'),
    program_failed: _('The program that lists the tasks failed.'),
});

/** @param {(text: string) => string} _ as above */
const refusals = _ => ({
    IllegalTransition: _('The session has moved on, so this is not possible now.'),
    NotPlanning: _('This is possible only while planning.'),
    NotActive: _('No session is running.'),
    NothingToJudge: _('There is no window that this could mean.'),
    InvalidCommitment: _('The plan has a field that is empty, too long or out of range.'),
    InvalidArgument: _('A value is out of range.'),
    AccessDenied: _('AntiDrift does not take reports from here.'),
    RateLimited: _('That was too fast. Try again in a moment.'),
    StoreFailed: _('Nothing was changed, because it could not be written to disk. Try again.'),
    Internal: _('AntiDrift made a mistake. Its log says more.'),
    Absent: _('AntiDrift is not running.'),
    TimedOut: _('AntiDrift does not answer.'),
    NoReply: _('AntiDrift stopped before it answered.'),
    ServiceUnknown: _('AntiDrift is not installed.'),
});

const OUR_FAULTS = faults(text => text);
const OUR_REFUSALS = refusals(text => text);

/**
 * Why something is degraded; empty for null.
 *
 * @param {Fault | null} fault
 * @param {Tr} tr
 */
export function faultSentence(fault, tr) {
    return fault === null ? '' : sentence(fault.code, fault.message, faults(tr._), OUR_FAULTS);
}

/**
 * Why a call to the service failed.
 *
 * @param {string} errorName the last part of the D-Bus error's name, or 'Absent' or 'TimedOut'
 * @param {string} message what the service, or D-Bus, says about it; may be empty
 * @param {Tr} tr
 */
export function refusalSentence(errorName, message, tr) {
    return sentence(errorName, message, refusals(tr._), OUR_REFUSALS) || tr._('Something went wrong.');
}

/**
 * @param {string} code
 * @param {string} message
 * @param {Record<string, string>} translated
 * @param {Record<string, string>} ours
 */
function sentence(code, message, translated, ours) {
    const said = clean(message);
    if (!Object.hasOwn(ours, code))
        return said;
    return translated[code] === ours[code] && said ? said : translated[code];
}
