// SPDX-License-Identifier: GPL-3.0-or-later
// @ts-check

/**
 * What the pure modules need to speak the person's language. It is handed in, because gettext, the clock format and the
 * list of installed apps are the shell's, and these modules run without one.
 *
 * @typedef {object} Tr
 * @property {(text: string) => string} _ gettext
 * @property {(one: string, many: string, count: number) => string} ngettext
 * @property {(windowClass: string) => string | null} [appName] how the person knows the app with this window class
 * @property {(unixMs: number) => string} [time] a time of day, such as "14:05"
 */

/** @type {Tr} */
export const UNTRANSLATED = {
    _: text => text,
    ngettext: (one, many, count) => (count === 1 ? one : many),
};
