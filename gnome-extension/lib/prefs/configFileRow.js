// SPDX-License-Identifier: GPL-3.0-or-later
// @ts-check

/**
 * Where the config file of the service is, and a way to open it. A file that is not there is made only on request.
 */

import Adw from 'gi://Adw';
import Gio from 'gi://Gio';
import GLib from 'gi://GLib';
import GObject from 'gi://GObject';
import Gtk from 'gi://Gtk';

import {gettext as _} from 'resource:///org/gnome/Shell/Extensions/js/extensions/prefs.js';

import {fill} from '../text.js';

// For the person who opens it; the keys are the same in every language.
const BEGINNING = `# The settings of the AntiDrift service, read when it starts. All of it is optional: man antidriftd

#[ai]
#backend = "claude"  # or "codex", or "none"

#[always_allowed]
#classes = ["org.gnome.Nautilus"]
`;

export const ConfigFileRow = GObject.registerClass({
    GTypeName: 'AntiDriftConfigFileRow',
}, class extends Adw.ActionRow {
    /** @param {Adw.PreferencesWindow} window */
    constructor(window) {
        super({
            title: _('Configuration file'),
            use_markup: false,
            subtitle_selectable: true,
            css_classes: ['property'],
        });
        this._window = window;
        this._file = Gio.File.new_for_path(configPath());
        this._button = new Gtk.Button({valign: Gtk.Align.CENTER});
        this._button.connect('clicked', () => {
            if (this._exists())
                this._open();
            else
                this._ask();
        });
        this.add_suffix(this._button);
        this.set_subtitle(shortened(configPath()));
        this._sync();
    }

    _exists() {
        return this._file.query_exists(null);
    }

    _sync() {
        this._button.set_label(this._exists() ? _('Open') : _('Create…'));
    }

    _open() {
        new Gtk.FileLauncher({file: this._file}).launch(this._window, null, (launcher, result) => {
            try {
                /** @type {Gtk.FileLauncher} */ (launcher).launch_finish(result);
            } catch (error) {
                this._complain(_('It cannot be opened: %s'), /** @type {GLib.Error} */ (error));
            }
        });
    }

    _ask() {
        const path = shortened(configPath());
        const dialog = new Adw.AlertDialog({
            heading: _('Create the file?'),
            body: fill(_('There is no configuration file yet; the service works without one. This creates %s.'), path),
        });
        dialog.add_response('cancel', _('Cancel'));
        dialog.add_response('create', _('Create'));
        dialog.set_response_appearance('create', Adw.ResponseAppearance.SUGGESTED);
        dialog.connect('response::create', () => this._create());
        dialog.present(this._window);
    }

    _create() {
        try {
            // What is in it is nobody else's business.
            GLib.mkdir_with_parents(GLib.path_get_dirname(configPath()), 0o700);
            const stream = this._file.create(Gio.FileCreateFlags.PRIVATE, null);
            stream.write_all(new TextEncoder().encode(BEGINNING), null);
            stream.close(null);
        } catch (error) {
            this._complain(_('It cannot be created: %s'), /** @type {GLib.Error} */ (error));
            return;
        }
        this._sync();
        this._open();
    }

    /**
     * @param {string} sentence
     * @param {GLib.Error} error
     */
    _complain(sentence, error) {
        this._window.add_toast(new Adw.Toast({title: fill(sentence, error.message), use_markup: false}));
    }
});

/** Where the service looks, unless it was told otherwise by its environment. */
function configPath() {
    return GLib.build_filenamev([GLib.get_user_config_dir(), 'antidrift', 'config.toml']);
}

/** @param {string} path */
function shortened(path) {
    const home = `${GLib.get_home_dir()}/`;
    return path.startsWith(home) ? `~/${path.slice(home.length)}` : path;
}
