// SPDX-License-Identifier: GPL-3.0-or-later
// @ts-check

/**
 * The time that is left, counted down on a monotonic clock of the caller's.
 *
 * The service does not send a tick a second. It says once how much is left, and whether that is running; this says what
 * to show at any later moment, and how long what is shown stays right, so that a panel wakes up only when it must.
 */

import {duration} from './duration.js';
import {UNTRANSLATED} from './translate.js';

/** @import {Tr} from './translate.js' */

const SECOND = 1000;
const MINUTE = 60 * SECOND;

export class Countdown {
    /**
     * @param {number} remainingMs what was left
     * @param {boolean} running whether it has been getting less since
     * @param {number} atMs when that was said, on any clock that does not jump
     */
    constructor(remainingMs, running, atMs) {
        this._remainingMs = remainingMs;
        this._running = running;
        this._atMs = atMs;
    }

    /**
     * What is left, in milliseconds; never below 0.
     *
     * @param {number} nowMs on the clock of the constructor, as below
     */
    remainingMs(nowMs) {
        const passed = this._running ? Math.max(0, nowMs - this._atMs) : 0;
        return Math.max(0, this._remainingMs - passed);
    }

    /**
     * What is left in words, never too little: "1 h 20 min", "25 min", in the last minute "0:59".
     *
     * @param {number} nowMs
     * @param {Tr} [tr]
     */
    label(nowMs, tr = UNTRANSLATED) {
        const left = this.remainingMs(nowMs);
        const secs = Math.ceil(left / SECOND);
        return secs < 60 ? clock(secs) : duration(Math.ceil(left / MINUTE) * 60, tr);
    }

    /**
     * After how many milliseconds `label` says something else; null if it will not.
     *
     * @param {number} nowMs
     */
    msToNextLabel(nowMs) {
        const left = this.remainingMs(nowMs);
        if (!this._running || left === 0)
            return null;
        const minutesAfter = Math.ceil(left / MINUTE) - 1;
        if (minutesAfter > 0)
            return Math.ceil(left - minutesAfter * MINUTE);
        return this.msToNextClock(nowMs);
    }

    /**
     * What is left to the second, for a place that is looked at only now and then: "23:41", "1:05:00".
     *
     * @param {number} nowMs
     */
    clock(nowMs) {
        return clock(Math.ceil(this.remainingMs(nowMs) / SECOND));
    }

    /**
     * After how many milliseconds `clock` says something else; null if it will not.
     *
     * @param {number} nowMs
     */
    msToNextClock(nowMs) {
        const left = this.remainingMs(nowMs);
        if (!this._running || left === 0)
            return null;
        const secsAfter = Math.ceil(left / SECOND) - 1;
        return Math.ceil(left - secsAfter * SECOND);
    }
}

/** @param {number} secs */
function clock(secs) {
    const parts = [Math.floor(secs / 60) % 60, secs % 60];
    const hours = Math.floor(secs / 3600);
    if (hours > 0)
        parts.unshift(hours);
    return parts.map((part, index) => (index === 0 ? `${part}` : `${part}`.padStart(2, '0'))).join(':');
}
