// SPDX-License-Identifier: GPL-3.0-or-later
// @ts-check

/**
 * What is shown when a drift has gone on for a while: a box at the top of the screen that asks, and waits.
 *
 * It is not a notification, because the banner of one takes the keyboard as soon as the pointer touches it, and what
 * the person types into their window would be lost. The box never takes it; who works by keyboard reaches it with
 * Ctrl+Alt+Tab.
 */

import Atk from 'gi://Atk';
import Clutter from 'gi://Clutter';
import Gio from 'gi://Gio';
import GObject from 'gi://GObject';
import Meta from 'gi://Meta';
import St from 'gi://St';

import {gettext as _} from 'resource:///org/gnome/shell/extensions/extension.js';
import * as Layout from 'resource:///org/gnome/shell/ui/layout.js';
import * as Main from 'resource:///org/gnome/shell/ui/main.js';

import {SessionError} from '../lib/sessionProxy.js';
import {tr} from '../lib/tr.js';
import {interruptText} from '../lib/viewModel.js';
import {button, defaultButton} from './button.js';
import {ButtonRow} from './buttonRow.js';
import {Remark} from './remark.js';
import {line, paragraph, row, show} from './text.js';

/**
 * @import {SessionProxy} from '../lib/sessionProxy.js'
 * @import {State} from '../lib/state.js'
 */

export class Interrupt {
    /**
     * @param {SessionProxy} session
     * @param {Gio.Settings} settings
     */
    constructor(session, settings) {
        this._session = session;
        this._settings = settings;
        this._notifications = new Gio.Settings({schema_id: 'org.gnome.desktop.notifications'});
        /** @type {InstanceType<typeof Box> | null} */
        this._box = null;
        /** @type {string | null} the episode of drift that the person has closed the box on */
        this._closedEpisode = null;

        session.connectObject('changed', () => this._sync(), this);
        settings.connectObject('changed::interrupt-style', () => this._sync(), this);
        this._notifications.connectObject('changed::show-banners', () => this._sync(), this);
        this._sync();
    }

    destroy() {
        this._session.disconnectObject(this);
        this._settings.disconnectObject(this);
        this._notifications.disconnectObject(this);
        this._withdraw();
    }

    _sync() {
        const {state} = this._session;
        const episode = state && episodeOf(state);
        if (!state || !episode || episode === this._closedEpisode || !this._mayShow())
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
        this._box ??= new Box(member => this._answer(member), () => this._close());
        this._box.ask(episode, interruptText(state, tr));
    }

    _withdraw() {
        this._box?.destroy();
        this._box = null;
    }

    _close() {
        this._closedEpisode = this._box?.episode ?? null;
        this._sync();
    }

    /**
     * What the answer changes arrives as a new state, and that withdraws the box.
     *
     * @param {string} member
     */
    async _answer(member) {
        const box = this._box;
        try {
            await this._session.call(member);
        } catch (error) {
            if (!(error instanceof SessionError))
                throw error;
            if (this._box === box)
                box?.say(error.message);
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

/**
 * In the middle of the work area, below the banner of a notification while one is shown. The width is settled here and
 * not by `x_align`, which reckons the height of wrapped text from the width of the screen.
 */
const BelowBanner = GObject.registerClass(
class AntiDriftBelowBanner extends Layout.MonitorConstraint {
    /**
     * @param {Clutter.Actor} actor
     * @param {Clutter.ActorBox} box
     */
    vfunc_update_allocation(actor, box) {
        super.vfunc_update_allocation(actor, box);
        const room = box.get_width();
        const width = Math.min(room, actor.get_preferred_width(-1)[1]);
        box.x1 += Math.floor((room - width) / 2);
        box.x2 = box.x1 + width;
        if (Main.messageTray.visible)
            box.y1 += bannerBin().height;
    }
});

/** What holds the banner; there is no public name for it. */
function bannerBin() {
    return /** @type {Clutter.Actor} */ (Main.messageTray.get_first_child());
}

const Box = GObject.registerClass(
class AntiDriftInterruptBox extends St.BoxLayout {
    /**
     * @param {(member: string) => void} answer called with the method of the service that the person has chosen
     * @param {() => void} close
     */
    constructor(answer, close) {
        super({
            style_class: 'popup-menu-content antidrift-interrupt',
            vertical: true,
            reactive: true, // or a click between the buttons would go to the window below
            accessible_role: Atk.Role.NOTIFICATION,
            y_align: Clutter.ActorAlign.START,
        });
        this.episode = '';
        this._title = paragraph('antidrift-title');
        this._body = paragraph('');
        this._refusal = new Remark('', 'dialog-warning-symbolic');
        [header(close), this._title, this._body, buttons(answer), this._refusal.actor]
            .forEach(part => this.add_child(part));
        this._place();
        setUnredirect(false);
        this.connect('destroy', () => setUnredirect(true));
    }

    /**
     * @param {string} episode
     * @param {{title: string, body: string}} text
     */
    ask(episode, {title, body}) {
        if (episode !== this.episode)
            this.say('');
        this.episode = episode;
        show(this._title, title);
        show(this._body, body);
        this.accessible_name = body ? `${title} ${body}` : title;
    }

    /** @param {string} sentence why an answer was refused; empty for nothing */
    say(sentence) {
        this._refusal.say(sentence);
    }

    /**
     * Escape gives the keyboard back to the window.
     *
     * @param {Clutter.Event} event
     */
    vfunc_key_press_event(event) {
        if (event.get_key_symbol() !== Clutter.KEY_Escape)
            return super.vfunc_key_press_event(event);
        global.stage.set_key_focus(null);
        return Clutter.EVENT_STOP;
    }

    _place() {
        this.add_constraint(new BelowBanner({primary: true, workArea: true}));
        Main.messageTray.connectObject('notify::visible', () => this.queue_relayout(), this);
        bannerBin().connectObject('notify::height', () => this.queue_relayout(), this);
        Main.layoutManager.addTopChrome(this);
        Main.ctrlAltTabManager.addGroup(this, 'AntiDrift', 'dialog-question-symbolic');
    }
});

/** @param {() => void} close */
function header(close) {
    const icon = new St.Icon({
        gicon: new Gio.FileIcon({
            file: Gio.File.new_for_uri(import.meta.url)
                .resolve_relative_path('../../icons/antidrift-drifting-symbolic.svg'),
        }),
        style_class: 'antidrift-icon',
    });
    const cross = new St.Button({
        style_class: 'icon-button flat antidrift-interrupt-close',
        icon_name: 'window-close-symbolic',
        accessible_name: _('Close'),
        can_focus: true,
    });
    cross.connect('clicked', close);
    return row('antidrift-row', icon, line('antidrift-caption', {text: 'AntiDrift', x_expand: true}), cross);
}

/** @param {(member: string) => void} answer */
function buttons(answer) {
    const made = new ButtonRow({style_class: 'antidrift-buttons', x_expand: true});
    made.add_child(defaultButton(_('Back to task'), () => answer('Refocus')));
    made.add_child(button(_('This is on task'), () => answer('OnTask')));
    made.add_child(button(_('End session'), () => answer('Complete')));
    return made;
}

/**
 * On X11 a fullscreen window can be drawn past the compositor, and so past the box. The shell counts who objects.
 *
 * @param {boolean} mayHappen
 */
function setUnredirect(mayHappen) {
    const name = mayHappen ? 'enable_unredirect' : 'disable_unredirect';
    if (name in global.compositor)
        global.compositor[name]();
    else // before GNOME 48
        /** @type {any} */ (Meta)[`${name}_for_display`](global.display);
}
