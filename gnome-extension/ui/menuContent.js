// SPDX-License-Identifier: GPL-3.0-or-later
// @ts-check

import St from 'gi://St';

import {PopupAnimation} from 'resource:///org/gnome/shell/ui/boxpointer.js';
import {ensureActorVisibleInScrollView} from 'resource:///org/gnome/shell/misc/animationUtils.js';

import {draft} from '../lib/draft.js';
import {Absent} from './absent.js';
import {Active} from './active.js';
import {Consent} from './consent.js';
import {Locked} from './locked.js';
import {Notices} from './notices.js';
import {Planning} from './planning.js';
import {Review} from './review.js';
import {column} from './text.js';

/**
 * @import {PopupMenu} from 'resource:///org/gnome/shell/ui/popupMenu.js'
 * @import {SessionProxy} from '../lib/sessionProxy.js'
 *
 * @typedef {Locked | Planning | Active | Review | Absent} Section
 */

/** What is in the menu: a section for each state, of which one is shown, and below it what concerns all of them. */
export class MenuContent {
    /**
     * @param {PopupMenu} menu
     * @param {SessionProxy} session
     */
    constructor(menu, session) {
        this._menu = menu;
        this._session = session;

        const started = () => menu.close(PopupAnimation.FULL);
        const sync = () => this._sync();
        this._absent = new Absent(session);
        this._locked = new Locked(session, draft, {started, settled: sync});
        this._planning = new Planning(session, draft, {started, cancelled: sync});
        this._active = new Active(session);
        this._review = new Review(session);
        this._sections = [this._absent, this._locked, this._planning, this._active, this._review];
        /** @type {Section} */
        this._shown = this._absent;
        this._consent = new Consent(session);
        this._notices = new Notices();

        const content = column('antidrift-menu',
            ...this._sections.map(({actor}) => actor), this._consent.actor, this._notices.actor);
        // EXTERNAL: for a scroll bar of its own it would leave room, and with it measure text as too high.
        this._scroll = new St.ScrollView({
            style_class: 'vfade',
            hscrollbar_policy: St.PolicyType.NEVER,
            vscrollbar_policy: St.PolicyType.EXTERNAL,
            child: content,
        });
        menu.box.add_child(this._scroll);
        menu.box.add_style_class_name('antidrift-box');

        menu.connect('open-state-changed', (_menu, isOpen) => {
            if (isOpen)
                this._opened();
            else
                this._closed();
            return undefined;
        });
        global.stage.connectObject('notify::key-focus', () => this._scrollToFocus(), this);
        session.connectObject('changed', () => this._sync(), this);
        this._sync();
    }

    /** The actors go with the menu. */
    destroy() {
        global.stage.disconnectObject(this);
        this._session.disconnectObject(this);
        this._active.stopTicking();
    }

    /** From the line to the whole plan. */
    plan() {
        if (this._shown === this._locked)
            this._locked.plan();
    }

    _opened() {
        this._session.refresh();
        this._absent.prepare();
        this._planning.prepare();
        this._sync();
        this._active.startTicking();
        this._focusSection();
    }

    _closed() {
        this._active.stopTicking();
        for (const part of [...this._sections, this._consent])
            part.forgetFault();
    }

    _sync() {
        const {presence, state} = this._session;
        const before = this._shown;
        this._shown = this._section();
        for (const section of this._sections)
            section.actor.visible = section === this._shown;
        if (this._shown instanceof Absent)
            this._shown.sync(presence);
        else if (state)
            this._shown.sync(state);
        this._consent.sync(state);
        this._notices.sync(state);
        if (this._menu.isOpen && (this._shown !== before || !this._hasFocus()))
            this._focusSection();
    }

    /** @returns {Section} */
    _section() {
        const {state} = this._session;
        if (!state)
            return this._absent;
        if (state.runtime_state === 'planning' && this._locked.isStarting)
            return this._locked;
        return {
            locked: this._locked, planning: this._planning, active: this._active, review: this._review,
        }[state.runtime_state];
    }

    /** What had the focus may have been hidden, and then the keyboard reaches nothing. */
    _hasFocus() {
        const focus = global.stage.key_focus;
        return focus !== null && focus.mapped && this._menu.actor.contains(focus);
    }

    /** The first entry of what is to be filled in; else the menu as a whole, from where Tab leads to the buttons. */
    _focusSection() {
        if (this._shown instanceof Locked || this._shown instanceof Planning)
            this._shown.focus();
        else
            this._menu.actor.grab_key_focus();
    }

    /** Tab alone leaves what it reaches out of sight. */
    _scrollToFocus() {
        const focus = global.stage.key_focus;
        if (focus && focus !== this._scroll && this._scroll.contains(focus))
            ensureActorVisibleInScrollView(this._scroll, focus);
    }
}
