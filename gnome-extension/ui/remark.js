// SPDX-License-Identifier: GPL-3.0-or-later
// @ts-check

import Clutter from 'gi://Clutter';
import St from 'gi://St';

import {paragraph, row, show} from './text.js';

/** A sentence behind an icon, hidden while there is none. */
export class Remark {
    /**
     * @param {string} styleClass of the sentence
     * @param {string} iconName
     */
    constructor(styleClass, iconName) {
        this._icon = new St.Icon({
            icon_name: iconName, style_class: 'antidrift-icon', y_align: Clutter.ActorAlign.START,
        });
        this._text = paragraph(styleClass);
        this.actor = row('antidrift-row', this._icon, this._text);
        this.say('');
    }

    /** @param {string} sentence */
    say(sentence) {
        show(this._text, sentence);
        this.actor.visible = sentence !== '';
    }

    /** @param {string} iconName */
    setIcon(iconName) {
        this._icon.icon_name = iconName;
    }
}
