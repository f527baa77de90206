// SPDX-License-Identifier: GPL-3.0-or-later
// @ts-check

import Clutter from 'gi://Clutter';
import St from 'gi://St';

import {minutesFrom} from '../lib/viewModel.js';
import {line, row} from './text.js';

const STEP = 5;

/** How long: a number of minutes, to be typed or stepped by five, with buttons or the arrow keys. */
export class Minutes {
    /**
     * @param {{caption: string, less: string, more: string}} words
     * @param {{changed: (text: string) => void, entered: () => void}} on as for a Field
     */
    constructor(words, on) {
        this._changed = on.changed;
        this._isSetting = false;
        this.entry = new St.Entry({
            style_class: 'antidrift-minutes',
            can_focus: true,
            input_purpose: Clutter.InputContentPurpose.DIGITS,
            accessible_name: words.caption,
            y_align: Clutter.ActorAlign.CENTER,
        });
        const text = this.entry.clutter_text;
        text.set({max_length: 4, x_align: Clutter.ActorAlign.CENTER, accessible_name: words.caption});
        text.connect('text-changed', () => {
            if (!this._isSetting)
                this._changed(this.entry.text);
        });
        text.connect('activate', on.entered);
        text.connect('key-press-event', (_text, event) => this._pressed(event.get_key_symbol()));
        this.actor = row(
            'antidrift-steps',
            line('antidrift-caption', {text: words.caption, x_expand: true}),
            this._step('list-remove-symbolic', words.less, -1),
            this.entry,
            this._step('list-add-symbolic', words.more, 1));
    }

    /** @param {string} text */
    set(text) {
        if (this.entry.text === text)
            return;
        this._isSetting = true;
        this.entry.text = text;
        this._isSetting = false;
    }

    /**
     * @param {string} iconName
     * @param {string} name
     * @param {number} direction
     */
    _step(iconName, name, direction) {
        const step = new St.Button({
            style_class: 'icon-button', icon_name: iconName, can_focus: true, accessible_name: name,
            y_align: Clutter.ActorAlign.CENTER,
        });
        step.connect('clicked', () => this._stepBy(direction));
        return step;
    }

    /** @param {number} direction to the next multiple of five, up or down */
    _stepBy(direction) {
        const minutes = minutesFrom(this.entry.text) ?? 0;
        const multiple = direction > 0 ? Math.floor(minutes / STEP) + 1 : Math.ceil(minutes / STEP) - 1;
        const next = minutesFrom(String(multiple * STEP));
        if (next !== null)
            this.entry.text = String(next);
    }

    /** @param {number} key */
    _pressed(key) {
        if (key !== Clutter.KEY_Up && key !== Clutter.KEY_Down)
            return Clutter.EVENT_PROPAGATE;
        this._stepBy(key === Clutter.KEY_Up ? 1 : -1);
        return Clutter.EVENT_STOP;
    }
}
