// SPDX-License-Identifier: GPL-3.0-or-later
// @ts-check

import St from 'gi://St';

import {ButtonRow} from './buttonRow.js';

/**
 * A button of the menu, which can be reached and pressed by keyboard.
 *
 * @param {string} label
 * @param {() => void} act
 * @param {Partial<St.Button.ConstructorProps>} [params]
 */
export function button(label, act, params = {}) {
    const made = new St.Button({style_class: 'button', label, can_focus: true, x_expand: true, ...params});
    made.add_style_class_name('antidrift-button');
    made.connect('clicked', act);
    return made;
}

/**
 * The one that the person most likely wants.
 *
 * @param {string} label
 * @param {() => void} act
 */
export function defaultButton(label, act) {
    return button(label, act, {style_class: 'button default'});
}

/**
 * Buttons beside each other, or one below the other where their labels are too long for that.
 *
 * @param {...St.Button} children
 */
export function buttons(...children) {
    const made = new ButtonRow({style_class: 'antidrift-buttons', x_expand: true});
    children.forEach(child => made.add_child(child));
    return made;
}
