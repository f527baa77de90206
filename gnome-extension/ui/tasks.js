// SPDX-License-Identifier: GPL-3.0-or-later
// @ts-check

import St from 'gi://St';

import {fill} from '../lib/text.js';
import {tr} from '../lib/tr.js';
import {column, line} from './text.js';

const SHOWN_AT_FIRST = 4;

/** Today's tasks, to be picked by one click. */
export class Tasks {
    /** @param {(task: string) => void} picked */
    constructor(picked) {
        this._picked = picked;
        /** @type {string[]} */
        this._tasks = [];
        this._list = column('antidrift-tasks');
        this.actor = column('antidrift-field', line('antidrift-caption', {text: tr._('Today')}), this._list);
    }

    /** @param {string[]} tasks */
    sync(tasks) {
        this.actor.visible = tasks.length > 0;
        if (tasks.join('\n') === this._tasks.join('\n'))
            return;
        this._tasks = tasks;
        this._fill(SHOWN_AT_FIRST);
    }

    /** @param {number} max */
    _fill(max) {
        this._list.destroy_all_children();
        // One more line than "1 more" would take.
        const shown = this._tasks.length <= max + 1 ? this._tasks : this._tasks.slice(0, max);
        for (const task of shown)
            this._add(task, () => this._picked(task));
        const rest = this._tasks.length - shown.length;
        if (rest > 0)
            this._add(fill(tr.ngettext('%d more…', '%d more…', rest), rest), () => this._showRest(shown.length));
    }

    /** @param {number} first the focus goes to the first of those that were hidden */
    _showRest(first) {
        this._fill(this._tasks.length);
        /** @type {St.Widget} */ (this._list.get_child_at_index(first)).grab_key_focus();
    }

    /**
     * @param {string} text
     * @param {() => void} act
     */
    _add(text, act) {
        const task = new St.Button({
            style_class: 'button flat antidrift-task',
            child: line('', {text, x_expand: true}),
            accessible_name: text,
            can_focus: true,
            x_expand: true,
        });
        task.connect('clicked', act);
        this._list.add_child(task);
    }
}
