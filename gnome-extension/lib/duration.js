// SPDX-License-Identifier: GPL-3.0-or-later
// @ts-check

/**
 * Durations in words: short ones to be looked at, long ones to be read aloud.
 */

import {fill} from './text.js';

/** @import {Tr} from './translate.js' */

/**
 * To the minute, below one to the second: "45 s", "12 min", "1 h 20 min".
 *
 * @param {number} secs
 * @param {Tr} tr
 */
export function duration(secs, tr) {
    const {_} = tr;
    const [hours, minutes] = hoursAndMinutes(secs);
    if (secs < 60)
        return fill(_('%d s'), Math.floor(secs));
    if (hours === 0)
        return fill(_('%d min'), minutes);
    return minutes === 0 ? fill(_('%d h'), hours) : fill(_('%d h %d min'), hours, minutes);
}

/**
 * The same for a screen reader: "45 seconds", "12 minutes", "1 hour 20 minutes".
 *
 * @param {number} secs
 * @param {Tr} tr
 */
export function spokenDuration(secs, tr) {
    const {_, ngettext} = tr;
    if (secs < 60)
        return fill(ngettext('%d second', '%d seconds', Math.floor(secs)), Math.floor(secs));
    const [hours, minutes] = hoursAndMinutes(secs);
    const inHours = fill(ngettext('%d hour', '%d hours', hours), hours);
    const inMinutes = fill(ngettext('%d minute', '%d minutes', minutes), minutes);
    if (hours === 0)
        return inMinutes;
    // Translators: a duration, such as "1 hour 20 minutes"
    return minutes === 0 ? inHours : fill(_('%s %s'), inHours, inMinutes);
}

/** @param {number} secs */
function hoursAndMinutes(secs) {
    const minutes = Math.round(secs / 60);
    return [Math.floor(minutes / 60), minutes % 60];
}
