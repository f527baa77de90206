// SPDX-License-Identifier: GPL-3.0-or-later
// @ts-check

import Atk from 'gi://Atk';
import Clutter from 'gi://Clutter';
import GObject from 'gi://GObject';
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

/** One child, as wide as its share of the whole. */
const ShareLayout = GObject.registerClass(
class AntiDriftShareLayout extends Clutter.LayoutManager {
    constructor() {
        super();
        this._share = 0;
    }

    /** @param {number} share from 0 to 1 */
    setShare(share) {
        if (share === this._share)
            return;
        this._share = share;
        this.layout_changed();
    }

    /** @returns {[number, number]} */
    vfunc_get_preferred_width() {
        return [0, 0];
    }

    /** @returns {[number, number]} */
    vfunc_get_preferred_height() {
        return [0, 0];
    }

    /**
     * @param {Clutter.Actor} trough
     * @param {Clutter.ActorBox} box
     */
    vfunc_allocate(trough, box) {
        // Never so short that the round ends meet in a point.
        const width = Math.max(Math.round(box.get_width() * this._share), box.get_height());
        const isReversed = trough.get_text_direction() === Clutter.TextDirection.RTL;
        const [x1, x2] = isReversed ? [box.x2 - width, box.x2] : [box.x1, box.x1 + width];
        trough.get_first_child()?.allocate(new Clutter.ActorBox({x1, y1: box.y1, x2, y2: box.y2}));
    }
});

class Row {
    constructor() {
        this._name = line('antidrift-bar-name', {x_expand: true});
        this._time = line('antidrift-small');
        this._layout = new ShareLayout();
        const trough = new St.Widget({style_class: 'antidrift-trough', layout_manager: this._layout, x_expand: true});
        trough.add_child(new St.Widget({style_class: 'antidrift-bar'}));
        this.actor = column('antidrift-bar-row', row('antidrift-row', this._name, this._time), trough);
        // One sentence for the row; its parts would only repeat it.
        this.actor.accessible_role = Atk.Role.LABEL;
    }

    /** @param {Bar} bar */
    sync({name, share, label, accessibleName}) {
        this._name.text = name;
        this._time.text = label;
        this._layout.setShare(share);
        this.actor.accessible_name = accessibleName;
    }
}
