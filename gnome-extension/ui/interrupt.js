// SPDX-License-Identifier: GPL-3.0-or-later
// @ts-check

/**
 * What is shown when a drift has gone on for a while: a box at the top of the screen that asks, and waits.
 *
 * It is not a notification, because the banner of one takes the keyboard as soon as the pointer touches it, and what the
 * person types into their window would be lost. The box never takes it; who works by keyboard reaches it with
 * Ctrl+Alt+Tab.
 */

import Atk from 'gi://Atk';
import Clutter from 'gi://Clutter';
import Gio from 'gi://Gio';
import GObject from 'gi://GObject';
import Meta from 'gi://Meta';
import Pango from 'gi://Pango';
import St from 'gi://St';

import {gettext as _, ngettext} from 'resource:///org/gnome/shell/extensions/extension.js';
import * as Layout from 'resource:///org/gnome/shell/ui/layout.js';
import * as Main from 'resource:///org/gnome/shell/ui/main.js';

import {interruptText} from '../lib/viewModel.js';
import {ButtonRow} from './buttonRow.js';

/**
 * @import {SessionError, SessionProxy} from '../lib/sessionProxy.js'
 * @import {State} from '../lib/state.js'
 */

/**
 * The episode of drift that the person has closed the box on. It outlives the object, because the shell disables and
 * enables extensions as it likes, for instance when another one is turned off.
 *
 * @type {string | null}
 */
let closedEpisode = null;

export class Interrupt {
    /**
     * @param {SessionProxy} session
     * @param {Gio.Settings} settings
     */
    constructor(session, settings) {
        this._session = session;
        this._settings = settings;
        this._notifications = new Gio.Settings({schema_id: 'org.gnome.desktop.notifications'});
        /** @type {InstanceType<typeof InterruptBox> | null} */
        this._box = null;

        this._changedId = session.connect('changed', () => this._sync());
        settings.connectObject('changed::interrupt-style', () => this._sync(), this);
        this._notifications.connectObject('changed::show-banners', () => this._sync(), this);
        this._sync();
    }

    destroy() {
        this._session.disconnect(this._changedId);
        this._settings.disconnectObject(this);
        this._notifications.disconnectObject(this);
        this._withdraw();
    }

    _sync() {
        const {presence, state} = this._session;
        const episode = presence === 'present' && state !== null ? episodeOf(state) : null;
        if (state === null || episode === null || episode === closedEpisode || !this._mayShow())
            this._withdraw();
        else
            this._show(state, episode);
    }

    /** Under "Do Not Disturb" the panel alone tells. */
    _mayShow() {
        return this._settings.get_string('interrupt-style') === 'banner' &&
            this._notifications.get_boolean('show-banners');
    }

    /**
     * @param {State} state
     * @param {string} episode
     */
    _show(state, episode) {
        this._box ??= this._newBox();
        this._box.present(episode, interruptText(state, {_, ngettext}));
    }

    _withdraw() {
        this._box?.destroy();
        this._box = null;
    }

    _newBox() {
        const box = new InterruptBox();
        box.connect('answered', (_box, member) => this._answer(box, member));
        box.connect('closed', () => {
            closedEpisode = box.episode;
            this._sync();
        });
        return box;
    }

    /**
     * What the answer changes arrives as a new state, which withdraws the box.
     *
     * @param {InstanceType<typeof InterruptBox>} box
     * @param {string} member
     */
    async _answer(box, member) {
        const {episode} = box;
        try {
            await this._session.call(member, null);
        } catch (error) {
            if (this._box === box && box.episode === episode)
                box.showError(/** @type {SessionError} */ (error).message);
        }
    }
}

/**
 * Which drift the interrupt is about; null while there is none.
 *
 * @param {State} state
 */
function episodeOf({instance, commitment, drift}) {
    if (commitment === null || !drift?.interrupt)
        return null;
    return `${instance} ${commitment.id} ${drift.episode}`;
}

/** Keeps what it is added to within the work area, below the banner of a notification while one is shown. */
const BelowBanner = GObject.registerClass(
class AntiDriftBelowBanner extends Layout.MonitorConstraint {
    /**
     * @param {Clutter.Actor} actor
     * @param {Clutter.ActorBox} box
     */
    vfunc_update_allocation(actor, box) {
        super.vfunc_update_allocation(actor, box);
        if (Main.messageTray.visible)
            box.y1 += bannerBin().height;
    }
});

/** What holds the banner; there is no public name for it. */
function bannerBin() {
    return /** @type {Clutter.Actor} */ (Main.messageTray.get_first_child());
}

const InterruptBox = GObject.registerClass({
    Signals: {
        'answered': {param_types: [GObject.TYPE_STRING]},
        'closed': {},
    },
}, class AntiDriftInterruptBox extends St.BoxLayout {
    constructor() {
        super({
            style_class: 'popup-menu-content antidrift-interrupt',
            vertical: true,
            reactive: true, // or a click between the buttons would go to the window below
            accessible_role: Atk.Role.NOTIFICATION,
            x_align: Clutter.ActorAlign.CENTER,
            y_align: Clutter.ActorAlign.START,
        });
        this.episode = '';
        this._buildHeader();
        this._title = this._addText('antidrift-interrupt-title');
        this._body = this._addText('antidrift-interrupt-body');
        this._buildButtons();
        this._error = this._addText('antidrift-error');

        this.add_constraint(new BelowBanner({primary: true, work_area: true}));
        Main.messageTray.connectObject('notify::visible', () => this.queue_relayout(), this);
        bannerBin().connectObject('notify::height', () => this.queue_relayout(), this);
        Main.layoutManager.addTopChrome(this);
        Main.ctrlAltTabManager.addGroup(this, 'AntiDrift', 'dialog-question-symbolic');
        setUnredirect(false);
        this.connect('destroy', () => setUnredirect(true));
    }

    /**
     * @param {string} episode
     * @param {{title: string, body: string}} text
     */
    present(episode, {title, body}) {
        if (this.episode !== episode)
            this.showError('');
        this.episode = episode;
        this._title.text = title;
        this._title.show();
        this._body.text = body;
        this._body.visible = body !== '';
        this.accessible_name = [title, body].filter(text => text).join(' ');
    }

    /** @param {string} message one sentence; empty for none */
    showError(message) {
        this._error.text = message;
        this._error.visible = message !== '';
    }

    /** @param {Clutter.Event} event */
    vfunc_key_press_event(event) {
        if (event.get_key_symbol() !== Clutter.KEY_Escape)
            return super.vfunc_key_press_event(event);
        global.stage.set_key_focus(null);
        return Clutter.EVENT_STOP;
    }

    _buildHeader() {
        const header = new St.BoxLayout({style_class: 'antidrift-interrupt-header'});
        header.add_child(new St.Icon({icon_name: 'dialog-question-symbolic', style_class: 'antidrift-interrupt-icon'}));
        header.add_child(new St.Label({
            text: 'AntiDrift',
            style_class: 'antidrift-caption',
            x_expand: true,
            y_align: Clutter.ActorAlign.CENTER,
        }));
        const close = new St.Button({
            style_class: 'icon-button flat antidrift-interrupt-close',
            icon_name: 'window-close-symbolic',
            accessible_name: _('Close'),
            can_focus: true,
        });
        close.connect('clicked', () => this.emit('closed'));
        header.add_child(close);
        this.add_child(header);
    }

    _buildButtons() {
        const row = new ButtonRow({style_class: 'antidrift-interrupt-buttons', x_expand: true});
        const add = (/** @type {string} */ label, /** @type {string} */ member, /** @type {string} */ styleClass) => {
            const button = new St.Button({label, style_class: styleClass, can_focus: true});
            button.connect('clicked', () => this.emit('answered', member));
            row.add_child(button);
        };
        add(_('Back to task'), 'Refocus', 'button default');
        add(_('This is on task'), 'OnTask', 'button');
        add(_('End session'), 'Complete', 'button');
        this.add_child(row);
    }

    /** @param {string} styleClass */
    _addText(styleClass) {
        const label = new St.Label({style_class: styleClass, visible: false});
        label.clutter_text.set({
            line_wrap: true,
            line_wrap_mode: Pango.WrapMode.WORD_CHAR,
            ellipsize: Pango.EllipsizeMode.NONE,
        });
        this.add_child(label);
        return label;
    }
});

/**
 * On X11 a fullscreen window can be drawn past the compositor, and so past the box; the shell counts who wants it not to.
 *
 * @param {boolean} mayHappen
 */
function setUnredirect(mayHappen) {
    const name = mayHappen ? 'enable_unredirect' : 'disable_unredirect';
    if (name in global.compositor)
        global.compositor[name]();
    else // before GNOME 48
        Meta[`${name}_for_display`](global.display);
}
