// SPDX-License-Identifier: GPL-3.0-or-later
// @ts-check

/** Labels of the menu. All of them show their text as it is, never as markup. */

import Clutter from 'gi://Clutter';
import Pango from 'gi://Pango';
import St from 'gi://St';

/**
 * A label over as many lines as its text needs, hidden while it has none.
 *
 * @param {string} styleClass
 * @param {Partial<St.Label.ConstructorProps>} [params]
 */
export function paragraph(styleClass, params = {}) {
    const label = new St.Label({style_class: styleClass, x_expand: true, visible: !!params.text, ...params});
    label.clutter_text.set({
        line_wrap: true,
        line_wrap_mode: Pango.WrapMode.WORD_CHAR,
        ellipsize: Pango.EllipsizeMode.NONE,
    });
    return label;
}

/**
 * A label on one line, cut at its end where it has no room.
 *
 * @param {string} styleClass
 * @param {Partial<St.Label.ConstructorProps>} [params]
 */
export function line(styleClass, params = {}) {
    const label = new St.Label({style_class: styleClass, y_align: Clutter.ActorAlign.CENTER, ...params});
    label.clutter_text.ellipsize = Pango.EllipsizeMode.END;
    return label;
}

/**
 * Shows a text, or nothing where it is empty.
 *
 * @param {St.Label} label
 * @param {string} text
 */
export function show(label, text) {
    if (label.text !== text)
        label.text = text;
    label.visible = text !== '';
}

/**
 * @param {string} styleClass
 * @param {...Clutter.Actor} children
 */
export function column(styleClass, ...children) {
    const box = new St.BoxLayout({style_class: styleClass, vertical: true, x_expand: true});
    children.forEach(child => box.add_child(child));
    return box;
}

/**
 * @param {string} styleClass
 * @param {...Clutter.Actor} children
 */
export function row(styleClass, ...children) {
    const box = new St.BoxLayout({style_class: styleClass, x_expand: true});
    children.forEach(child => box.add_child(child));
    return box;
}
