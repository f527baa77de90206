// SPDX-License-Identifier: GPL-3.0-or-later
// @ts-check

/**
 * Buttons beside each other where their labels have room, else one below the other: translations are longer than the
 * original, and letters can be large.
 */

import Clutter from 'gi://Clutter';
import GObject from 'gi://GObject';
import St from 'gi://St';

const ButtonRowLayout = GObject.registerClass(
class AntiDriftButtonRowLayout extends Clutter.LayoutManager {
    /** the gap between two buttons, in pixels */
    _spacing = 0;

    /** @param {number} spacing */
    setSpacing(spacing) {
        if (spacing === this._spacing)
            return;
        this._spacing = spacing;
        this.layout_changed();
    }

    /**
     * @param {Clutter.Actor} row
     * @returns {[number, number]}
     */
    vfunc_get_preferred_width(row) {
        const widths = shownChildren(row).map(child => child.get_preferred_width(-1));
        const minimum = Math.max(0, ...widths.map(([least]) => least));
        return [minimum, this._sum(widths.map(([, natural]) => natural))];
    }

    /**
     * @param {Clutter.Actor} row
     * @param {number} forWidth
     * @returns {[number, number]}
     */
    vfunc_get_preferred_height(row, forWidth) {
        const children = shownChildren(row);
        const heights = children.map(child => child.get_preferred_height(-1)[1]);
        const isRow = forWidth < 0 || this._fits(children, forWidth);
        const height = isRow ? Math.max(0, ...heights) : this._sum(heights);
        return [height, height];
    }

    /**
     * @param {Clutter.Actor} row
     * @param {Clutter.ActorBox} box
     */
    vfunc_allocate(row, box) {
        const children = shownChildren(row);
        if (this._fits(children, box.get_width()))
            this._allocateRow(row, children, box);
        else
            this._allocateColumn(children, box);
    }

    /**
     * @param {Clutter.Actor} row
     * @param {Clutter.Actor[]} children
     * @param {Clutter.ActorBox} box
     */
    _allocateRow(row, children, box) {
        const widths = children.map(naturalWidth);
        const share = (box.get_width() - this._sum(widths)) / children.length;
        const isReversed = row.get_text_direction() === Clutter.TextDirection.RTL;
        let start = 0;
        children.forEach((child, index) => {
            const end = start + widths[index] + share;
            const [x1, x2] = isReversed ? [box.x2 - end, box.x2 - start] : [box.x1 + start, box.x1 + end];
            child.allocate(new Clutter.ActorBox({x1: Math.round(x1), y1: box.y1, x2: Math.round(x2), y2: box.y2}));
            start = end + this._spacing;
        });
    }

    /**
     * @param {Clutter.Actor[]} children
     * @param {Clutter.ActorBox} box
     */
    _allocateColumn(children, box) {
        let y1 = box.y1;
        for (const child of children) {
            const y2 = y1 + child.get_preferred_height(-1)[1];
            child.allocate(new Clutter.ActorBox({x1: box.x1, y1, x2: box.x2, y2}));
            y1 = y2 + this._spacing;
        }
    }

    /**
     * @param {Clutter.Actor[]} children
     * @param {number} width
     */
    _fits(children, width) {
        return this._sum(children.map(naturalWidth)) <= width;
    }

    /** @param {number[]} lengths */
    _sum(lengths) {
        const gaps = Math.max(0, lengths.length - 1) * this._spacing;
        return lengths.reduce((sum, length) => sum + length, gaps);
    }
});

/** The gap between the buttons is the `spacing` of the style class. */
export const ButtonRow = GObject.registerClass(
class AntiDriftButtonRow extends St.Widget {
    /** @param {Partial<St.Widget.ConstructorProps>} params */
    constructor(params) {
        const layout = new ButtonRowLayout();
        super({...params, request_mode: Clutter.RequestMode.HEIGHT_FOR_WIDTH, layout_manager: layout});
        this._layout = layout;
    }

    vfunc_style_changed() {
        super.vfunc_style_changed();
        this._layout?.setSpacing(this.get_theme_node().get_length('spacing'));
    }
});

/** @param {Clutter.Actor} row */
function shownChildren(row) {
    return row.get_children().filter(child => child.visible);
}

/** @param {Clutter.Actor} child */
function naturalWidth(child) {
    return child.get_preferred_width(-1)[1];
}
