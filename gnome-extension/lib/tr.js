// SPDX-License-Identifier: GPL-3.0-or-later
// @ts-check

/**
 * The person's language, clock and apps, for the modules that know no shell (see translate.js).
 */

import Shell from 'gi://Shell';

// @ts-expect-error The published types leave this module out.
import {formatTime} from 'resource:///org/gnome/shell/misc/dateUtils.js';
import {gettext, ngettext} from 'resource:///org/gnome/shell/extensions/extension.js';

/** @import {Tr} from './translate.js' */

/** @type {Tr} */
export const tr = {
    _: gettext,
    ngettext,
    appName: windowClass => appOf(windowClass)?.get_name() ?? null,
    time: unixMs => formatTime(new Date(unixMs), {timeOnly: true}),
};

/** @param {string} windowClass */
function appOf(windowClass) {
    const apps = Shell.AppSystem.get_default();
    return apps.lookup_app(`${windowClass}.desktop`) ??
        apps.lookup_startup_wmclass(windowClass) ??
        apps.lookup_desktop_wmclass(windowClass);
}
