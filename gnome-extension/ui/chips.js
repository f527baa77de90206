// SPDX-License-Identifier: GPL-3.0-or-later
// @ts-check

/** Apps to be allowed: a small toggle for each, as many in a row as fit. */

import Atk from 'gi://Atk';
import Clutter from 'gi://Clutter';
import GObject from 'gi://GObject';
import St from 'gi://St';

import {line, row} from './text.js';

/**
 * @typedef {object} Chip
 * @property {string} id
 * @property {string} label
 * @property {boolean} isOn
 */

const ON = 'object-select-symbolic';
const OFF = 'list-add-symbolic';

// Clutter.FlowLayout gives its children no height in a menu.
const WrapLayout = GObject.registerClass(
class AntiDriftWrapLayout extends Clutter.LayoutManager {
    /** @param {number} spacing between the children, in both directions */
    constructor(spacing) {
        super();
        this._spacing = spacing;
    }

    /**
     * @param {Clutter.Actor} box
     * @returns {[number, number]}
     */
    vfunc_get_preferred_width(box) {
        const widths = box.get_children().map(child => child.get_preferred_width(-1));
        const least = Math.max(0, ...widths.map(([minimum]) => minimum));
        return [least, widths.reduce((sum, [, natural]) => sum + natural + this._spacing, 0)];
    }

    /**
     * @param {Clutter.Actor} box
     * @param {number} forWidth
     * @returns {[number, number]}
     */
    vfunc_get_preferred_height(box, forWidth) {
        const places = this._places(box, forWidth < 0 ? Infinity : forWidth);
        const height = Math.max(0, ...places.map(({y, height: tall}) => y + tall));
        return [height, height];
    }

    /**
     * @param {Clutter.Actor} box
     * @param {Clutter.ActorBox} allocation
     */
    vfunc_allocate(box, allocation) {
        const width = allocation.get_width();
        const isReversed = box.get_text_direction() === Clutter.TextDirection.RTL;
        for (const place of this._places(box, width)) {
            const x1 = allocation.x1 + (isReversed ? width - place.x - place.width : place.x);
            const y1 = allocation.y1 + place.y;
            place.child.allocate(new Clutter.ActorBox({x1, y1, x2: x1 + place.width, y2: y1 + place.height}));
        }
    }

    /**
     * @param {Clutter.Actor} box
     * @param {number} available
     */
    _places(box, available) {
        let x = 0;
        let y = 0;
        let tallest = 0;
        return box.get_children().map(child => {
            const width = Math.min(child.get_preferred_width(-1)[1], available);
            const height = child.get_preferred_height(width)[1];
            if (x > 0 && x + width > available) {
                x = 0;
                y += tallest + this._spacing;
                tallest = 0;
            }
            const place = {child, x, y, width, height};
            x += width + this._spacing;
            tallest = Math.max(tallest, height);
            return place;
        });
    }
});

export class Chips {
    /** @param {(id: string, isOn: boolean) => void} toggled by the person */
    constructor(toggled) {
        this._toggled = toggled;
        /** @type {Map<string, St.Button>} */
        this._buttons = new Map();
        this.actor = new St.Widget({
            style_class: 'antidrift-chips',
            layout_manager: new WrapLayout(6),
            request_mode: Clutter.RequestMode.HEIGHT_FOR_WIDTH,
            x_expand: true,
        });
    }

    /**
     * Chips that stay are kept, and with them the focus.
     *
     * @param {Chip[]} chips
     */
    sync(chips) {
        for (const [id, button] of this._buttons) {
            if (!chips.some(chip => chip.id === id)) {
                this._buttons.delete(id);
                button.destroy();
            }
        }
        chips.forEach((chip, index) => {
            const button = this._buttons.get(chip.id) ?? this._add(chip);
            if (this.actor.get_child_at_index(index) !== button)
                this.actor.set_child_at_index(button, index);
            setOn(button, chip.isOn);
        });
        this.actor.visible = chips.length > 0;
    }

    /** @param {Chip} chip */
    _add({id, label}) {
        const icon = new St.Icon({style_class: 'antidrift-chip-icon', y_align: Clutter.ActorAlign.CENTER});
        const button = new St.Button({
            style_class: 'button antidrift-chip',
            child: row('antidrift-chip-content', icon, line('', {text: label})),
            can_focus: true,
            toggle_mode: true,
            accessible_role: Atk.Role.TOGGLE_BUTTON,
            accessible_name: label,
        });
        button.connect('clicked', () => {
            setOn(button, button.checked);
            this._toggled(id, button.checked);
        });
        this._buttons.set(id, button);
        this.actor.add_child(button);
        return button;
    }
}

/**
 * @param {St.Button} button
 * @param {boolean} isOn
 */
function setOn(button, isOn) {
    button.checked = isOn;
    const content = /** @type {St.BoxLayout} */ (button.child);
    /** @type {St.Icon} */ (content.get_first_child()).icon_name = isOn ? ON : OFF;
}
