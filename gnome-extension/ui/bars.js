// SPDX-License-Identifier: GPL-3.0-or-later
// @ts-check

import Atk from 'gi://Atk';
import Clutter from 'gi://Clutter';
import St from 'gi://St';

import {column, line, row} from './text.js';

/** @import {Bar} from '../lib/viewModel.js' */

/** How the time was spent: a row for each app, with its name, how long, and a bar. */
export class Bars {
    constructor() {
        this.actor = column('antidrift-bars');
        /** @type {Row[]} */
        this._rows = [];
    }

    /** @param {Bar[]} bars */
    sync(bars) {
        while (this._rows.length > bars.length)
            this._rows.pop()?.actor.destroy();
        while (this._rows.length < bars.length) {
            const added = new Row();
            this.actor.add_child(added.actor);
            this._rows.push(added);
        }
        bars.forEach((bar, index) => this._rows[index].sync(bar));
        this.actor.visible = bars.length > 0;
    }
}

class Row {
    constructor() {
        this._name = line('antidrift-bar-name', {x_expand: true});
        this._time = line('antidrift-small');
        this._bar = new St.Widget({style_class: 'antidrift-bar'});
        this._trough = new St.Widget({
            style_class: 'antidrift-trough',
            layout_manager: new Clutter.FixedLayout(),
            x_expand: true,
        });
        this._trough.add_child(this._bar);
        this._trough.connect('notify::width', () => this._place());
        this._trough.connect('notify::height', () => this._place());
        this.actor = column('antidrift-bar-row', row('antidrift-row', this._name, this._time), this._trough);
        // One sentence for the row; its parts would only repeat it.
        this.actor.accessible_role = Atk.Role.LABEL;
        this._share = 0;
    }

    /** @param {Bar} bar */
    sync({name, share, label, accessibleName}) {
        this._name.text = name;
        this._time.text = label;
        this._share = share;
        this.actor.accessible_name = accessibleName;
        this._place();
    }

    _place() {
        const {width, height} = this._trough;
        // Never so short that the round ends meet in a point.
        this._bar.set_size(Math.max(Math.round(width * this._share), height), height);
        if (this._trough.get_text_direction() === Clutter.TextDirection.RTL)
            this._bar.x = width - this._bar.width;
    }
}
