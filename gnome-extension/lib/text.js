// SPDX-License-Identifier: GPL-3.0-or-later
// @ts-check

/**
 * Text that comes from outside (people, windows, an AI), made fit to be shown beside our own.
 */

// Joiners spell half of the world's scripts and many emoji, and the signs that embrace Arabic, Syriac and Kaithi
// numbers are seen: of the format characters (Cf), these stay. The controls of direction go with the rest.
const FORMAT_CHARACTERS =
    /(?!\u200c|\u200d|[\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u{110bd}\u{110cd}])\p{Cf}/gu;
const LONE_SURROGATES = /\p{Cs}/gu;
const BLANKS = /[\p{Cc}\p{Z}]+/gu;

const EXTENDS_THE_ONE_BEFORE = /\p{M}|\u200d|\p{Emoji_Modifier}/u;
const JOINS_THE_ONE_AFTER = '\u200d';

/**
 * One line of plain text in NFC: no control character, nothing that changes the direction of what stands beside it,
 * every stretch of white space one space.
 *
 * @param {string} text
 */
export function clean(text) {
    return text
        .replace(LONE_SURROGATES, '\ufffd')
        .replace(BLANKS, ' ')
        .replace(FORMAT_CHARACTERS, '')
        .normalize('NFC')
        .replace(/ {2,}/g, ' ')
        .trim();
}

/**
 * `text` for use inside a sentence of ours: cleaned, cut, and between U+2068 and U+2069, so that letters that run from
 * right to left do not turn the rest of the sentence round (Unicode Standard Annex 9). Empty if nothing is left.
 *
 * @param {string} text
 * @param {number} [max] in characters
 */
export function isolate(text, max = Infinity) {
    const line = ellipsize(clean(text), max);
    return line && `\u2068${line}\u2069`;
}

/**
 * `text`, cut where it has more than `max` characters (Unicode code points); the "…" counts. A letter is not parted
 * from its accents, nor an emoji in two.
 *
 * @param {string} text
 * @param {number} max at least 1
 */
export function ellipsize(text, max) {
    const characters = [...text];
    if (characters.length <= max)
        return text;
    let end = max - 1;
    while (end > 0 && (EXTENDS_THE_ONE_BEFORE.test(characters[end]) || characters[end - 1] === JOINS_THE_ONE_AFTER))
        end--;
    return `${characters.slice(0, end).join('').trimEnd()}…`;
}

/**
 * The first `max` characters (Unicode code points) of `text`.
 *
 * @param {string} text
 * @param {number} max
 */
export function cut(text, max) {
    const characters = [...text];
    return characters.length <= max ? text : characters.slice(0, max).join('');
}

/**
 * A translated sentence with its blanks filled in: `%s` and `%d` in turn, `%2$s` by number, `%%` for a percent sign.
 *
 * @param {string} template
 * @param {...(string | number)} values
 */
export function fill(template, ...values) {
    let next = 0;
    return template.replace(/%(?:(\d+)\$)?([sd%])/g, (_match, place, kind) => {
        if (kind === '%')
            return '%';
        return String(values[place ? Number(place) - 1 : next++]);
    });
}
