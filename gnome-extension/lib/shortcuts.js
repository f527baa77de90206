// SPDX-License-Identifier: GPL-3.0-or-later
// @ts-check

/**
 * The keyboard shortcuts: they work in windows, in the overview and while a menu is open, but not on the lock screen.
 * The shell itself follows a change of the settings.
 */

import Meta from 'gi://Meta';
import Shell from 'gi://Shell';

import * as Main from 'resource:///org/gnome/shell/ui/main.js';

/** @import Gio from 'gi://Gio' */

const MODES = Shell.ActionMode.NORMAL | Shell.ActionMode.OVERVIEW | Shell.ActionMode.POPUP;

/**
 * @typedef {object} Actions
 * @property {() => void} openMenu
 * @property {() => void} plan
 * @property {() => void} complete
 * @property {() => void} onTask
 * @property {() => void} refocus
 */

export class Shortcuts {
    /**
     * @param {Gio.Settings} settings
     * @param {Actions} actions
     */
    constructor(settings, {openMenu, plan, complete, onTask, refocus}) {
        /** @type {Record<string, () => void>} */
        this._actions = {
            'shortcut-menu': openMenu,
            'shortcut-plan': plan,
            'shortcut-complete': complete,
            'shortcut-on-task': onTask,
            'shortcut-refocus': refocus,
        };
        for (const [key, action] of Object.entries(this._actions))
            Main.wm.addKeybinding(key, settings, Meta.KeyBindingFlags.IGNORE_AUTOREPEAT, MODES, () => action());
    }

    destroy() {
        for (const key of Object.keys(this._actions))
            Main.wm.removeKeybinding(key);
    }
}
