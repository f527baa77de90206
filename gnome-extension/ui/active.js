// SPDX-License-Identifier: GPL-3.0-or-later
// @ts-check

import Clutter from 'gi://Clutter';
import GLib from 'gi://GLib';

import {monotonicMs} from '../lib/sessionProxy.js';
import {tr} from '../lib/tr.js';
import {awaySentence, doneWhen, driftSentence, evidenceBars, nextAction} from '../lib/viewModel.js';
import {Bars} from './bars.js';
import {button, buttons, defaultButton} from './button.js';
import {Fault} from './fault.js';
import {Remark} from './remark.js';
import {column, line, paragraph, row, show} from './text.js';
import {Wake} from './wake.js';

/**
 * @import {SessionProxy} from '../lib/sessionProxy.js'
 * @import {State} from '../lib/state.js'
 */

const EXTENSION_SECS = 5 * 60;
const TOP_APPS = 3;

// The status in a shape as well, so that it does not hang on the words alone.
const STATUS_ICONS = {
    idle: 'content-loading-symbolic',
    pending: 'content-loading-symbolic',
    ontask: 'object-select-symbolic',
    drifting: 'dialog-warning-symbolic',
};

/** A session: how long, what, whether it is on task, where the time has gone. */
export class Active {
    /** @param {SessionProxy} session */
    constructor(session) {
        const {_} = tr;
        this._session = session;
        this._second = new Wake();
        this._isTicking = false;

        this._time = line('antidrift-time', {x_expand: true});
        const longer = button(_('+5 min'), () => this._call('Extend', new GLib.Variant('(x)', [EXTENSION_SECS])), {
            x_expand: false,
            y_align: Clutter.ActorAlign.CENTER,
            accessible_name: _('Five minutes more'),
        });
        this._what = paragraph('antidrift-title');
        this._doneWhen = paragraph('antidrift-small');
        this._away = paragraph('antidrift-small');

        this._status = new Remark('', STATUS_ICONS.idle);
        this._answers = buttons(
            button(_('This is on task'), () => this._call('OnTask')),
            defaultButton(_('Back to task'), () => this._call('Refocus')));

        this._bars = new Bars();
        this._fault = new Fault();
        this._complete = defaultButton(_('Complete'), () => this._call('Complete'));
        this.actor = column('antidrift-section',
            row('antidrift-row', this._time, longer), this._what, this._doneWhen, this._away,
            this._status.actor, this._answers, this._bars.actor, this._complete, this._fault.actor);
    }

    /** @param {State} state */
    sync(state) {
        const status = state.drift?.status ?? 'idle';
        const isDrifting = status === 'drifting';
        show(this._what, nextAction(state));
        show(this._doneWhen, doneWhen(state, tr));
        show(this._away, awaySentence(state, tr));

        this._status.setIcon(STATUS_ICONS[status]);
        this._status.say(state.away?.active ? '' : driftSentence(state, tr));
        this._answers.visible = isDrifting;
        // One button at a time is the one most likely wanted.
        if (isDrifting)
            this._complete.remove_style_class_name('default');
        else
            this._complete.add_style_class_name('default');

        this._bars.sync(evidenceBars(state, tr, {max: TOP_APPS, away: false}));
        this._tick();
    }

    /** The seconds run only while somebody may look at them. */
    startTicking() {
        this._isTicking = true;
        this._tick();
    }

    stopTicking() {
        this._isTicking = false;
        this._second.cancel();
    }

    forgetFault() {
        this._fault.clear();
    }

    _tick() {
        const {countdown} = this._session;
        this._second.cancel();
        if (!countdown)
            return;
        this._time.text = countdown.clock(monotonicMs());
        const ms = countdown.msToNextClock(monotonicMs());
        if (this._isTicking && ms !== null)
            this._second.after(ms, () => this._tick());
    }

    /**
     * @param {string} member
     * @param {GLib.Variant | null} [parameters]
     */
    _call(member, parameters = null) {
        this._fault.run(() => this._session.call(member, parameters));
    }
}
