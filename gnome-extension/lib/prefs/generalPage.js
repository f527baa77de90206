// SPDX-License-Identifier: GPL-3.0-or-later
// @ts-check

/**
 * What the panel shows, what happens when the person drifts, and what the service says about itself.
 */

import Adw from 'gi://Adw';
import Gio from 'gi://Gio';
import Gtk from 'gi://Gtk';

import {gettext as _} from 'resource:///org/gnome/Shell/Extensions/js/extensions/prefs.js';

import {ServiceGroup} from './serviceGroup.js';

/**
 * @param {Adw.PreferencesWindow} window
 * @param {Gio.Settings} settings
 */
export function generalPage(window, settings) {
    const page = new Adw.PreferencesPage({title: _('General'), icon_name: 'preferences-system-symbolic'});
    page.add(panelGroup(settings));
    page.add(driftGroup(settings));
    page.add(new ServiceGroup(window));
    return page;
}

/** @param {Gio.Settings} settings */
function panelGroup(settings) {
    const group = new Adw.PreferencesGroup({title: _('Panel')});
    group.add(switchRow(settings, 'show-time', {
        title: _('Show the time left'),
        subtitle: _('Beside the icon, while a session is running'),
    }));
    group.add(choiceRow(settings, 'panel-position', {title: _('Position')}, [_('Left'), _('Center'), _('Right')]));
    return group;
}

/** @param {Gio.Settings} settings */
function driftGroup(settings) {
    const group = new Adw.PreferencesGroup({title: _('When you drift')});
    const style = choiceRow(settings, 'interrupt-style', {title: _('Interruption')}, [
        _('Banner'),
        _('Panel icon only'),
    ]);
    style.subtitle = _('Do Not Disturb holds the banner back');
    group.add(style);
    group.add(switchRow(settings, 'show-nudges', {
        title: _('Heads up'),
        subtitle: _('A notification when you are in the right app, but not at the task'),
    }));
    return group;
}

/**
 * @param {Gio.Settings} settings
 * @param {string} key
 * @param {{title: string, subtitle: string}} texts
 */
function switchRow(settings, key, texts) {
    const row = new Adw.SwitchRow(texts);
    settings.bind(key, row, 'active', Gio.SettingsBindFlags.DEFAULT);
    return row;
}

/**
 * @param {Gio.Settings} settings
 * @param {string} key an enumeration
 * @param {{title: string}} texts
 * @param {string[]} choices in the order of the enumeration
 */
function choiceRow(settings, key, texts, choices) {
    const row = new Adw.ComboRow({...texts, model: Gtk.StringList.new(choices)});
    const follow = () => row.set_selected(settings.get_enum(key));
    follow();
    const id = settings.connect(`changed::${key}`, follow);
    row.connect('destroy', () => settings.disconnect(id));
    row.connect('notify::selected', () => {
        if (row.selected !== settings.get_enum(key))
            settings.set_enum(key, row.selected);
    });
    return row;
}
