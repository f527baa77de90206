// SPDX-License-Identifier: GPL-3.0-or-later
// @ts-check

/**
 * Keyboard shortcuts as settings spell them ("<Control><Super>a"): from pressed keys, and what uses them already.
 */

import Gdk from 'gi://Gdk';
import Gio from 'gi://Gio';
import Gtk from 'gi://Gtk';

const BUT_SHIFT = Gdk.ModifierType.CONTROL_MASK | Gdk.ModifierType.ALT_MASK | Gdk.ModifierType.SUPER_MASK |
    Gdk.ModifierType.HYPER_MASK | Gdk.ModifierType.META_MASK;

/** Where GNOME keeps its own. Some are missing where a part of GNOME is not installed. */
const STOCK = [
    'org.gnome.desktop.wm.keybindings',
    'org.gnome.shell.keybindings',
    'org.gnome.mutter.keybindings',
    'org.gnome.mutter.wayland.keybindings',
    'org.gnome.settings-daemon.plugins.media-keys',
];
const CUSTOM = 'org.gnome.settings-daemon.plugins.media-keys.custom-keybinding';

/**
 * The shortcut that was pressed; null if it cannot be one: only modifiers, or none besides Shift, which would take the
 * key away from typing.
 *
 * @param {Gdk.Display} display
 * @param {number} keycode
 * @param {Gdk.ModifierType} state
 */
export function pressedAccelerator(display, keycode, state) {
    // By the key rather than by the letter: without Shift and in the first layout, so that it stays the same shortcut
    // when the person changes to another.
    const [known, keyval] = display.translate_key(keycode, 0, 0);
    const modifiers = state & Gtk.accelerator_get_default_mod_mask();
    if (!known || !(modifiers & BUT_SHIFT) || !Gtk.accelerator_valid(keyval, modifiers))
        return null;
    return Gtk.accelerator_name_with_keycode(null, Gdk.keyval_to_lower(keyval), keycode, modifiers);
}

/**
 * What uses `accelerator` in GNOME, as GNOME calls it; null if nothing does.
 *
 * @param {string} accelerator
 */
export function stockUse(accelerator) {
    for (const {name, accelerators} of stockShortcuts()) {
        if (accelerators.some(other => isSame(other, accelerator)))
            return name;
    }
    return null;
}

/**
 * @param {string} one
 * @param {string} other
 */
export function isSame(one, other) {
    const meaning = meaningOf(one);
    return meaning !== null && meaning === meaningOf(other);
}

/** @param {string} accelerator */
function meaningOf(accelerator) {
    const [known, keyval, modifiers] = Gtk.accelerator_parse(accelerator);
    return known && keyval !== 0 ? `${Gdk.keyval_to_lower(keyval)} ${modifiers}` : null;
}

function* stockShortcuts() {
    const source = Gio.SettingsSchemaSource.get_default();
    for (const schema of STOCK.map(id => source?.lookup(id, true) ?? null)) {
        if (schema === null)
            continue;
        const settings = new Gio.Settings({settings_schema: schema});
        for (const name of schema.list_keys()) {
            const key = schema.get_key(name);
            if (key.get_value_type().dup_string() !== 'as')
                continue;
            const accelerators = settings.get_strv(name);
            if (name === 'custom-keybindings')
                yield* customShortcuts(accelerators);
            else
                yield {name: key.get_summary() || name, accelerators};
        }
    }
}

/** @param {string[]} paths */
function* customShortcuts(paths) {
    for (const path of paths) {
        const settings = new Gio.Settings({schema_id: CUSTOM, path});
        yield {name: settings.get_string('name'), accelerators: [settings.get_string('binding')]};
    }
}
