// SPDX-License-Identifier: GPL-3.0-or-later
// @ts-check

import {ExtensionPreferences} from 'resource:///org/gnome/Shell/Extensions/js/extensions/prefs.js';

import {generalPage} from './lib/prefs/generalPage.js';
import {shortcutsPage} from './lib/prefs/shortcutsPage.js';

/** @import Adw from 'gi://Adw' */

export default class AntiDriftPreferences extends ExtensionPreferences {
    /** @param {Adw.PreferencesWindow} window */
    async fillPreferencesWindow(window) {
        const settings = this.getSettings();
        window.add(generalPage(window, settings));
        window.add(shortcutsPage(settings));
    }
}
