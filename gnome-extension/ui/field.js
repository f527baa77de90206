// SPDX-License-Identifier: GPL-3.0-or-later
// @ts-check

import St from 'gi://St';

import {column, line} from './text.js';

// The limit of what StartCommitment and RequestCoach take.
const MAX_CHARS = 500;

/** An entry for one line of text, with a caption above. */
export class Field {
    /**
     * @param {string} caption also its name for a screen reader
     * @param {string} hint
     * @param {{changed: (text: string) => void, entered: () => void}} on `changed`: by the person, not by `set`
     */
    constructor(caption, hint, on) {
        this.entry = new St.Entry({hint_text: hint, can_focus: true, x_expand: true, accessible_name: caption});
        const text = this.entry.clutter_text;
        text.max_length = MAX_CHARS;
        // The focus is on the text inside of the entry, and that is what a screen reader names.
        text.accessible_name = caption;
        this._isSetting = false;
        text.connect('text-changed', () => {
            if (!this._isSetting)
                on.changed(this.entry.text);
        });
        text.connect('activate', on.entered);
        this.actor = column('antidrift-field', line('antidrift-caption', {text: caption}), this.entry);
    }

    /**
     * Writes only what differs, since that moves the cursor.
     *
     * @param {string} text
     */
    set(text) {
        if (this.entry.text === text)
            return;
        this._isSetting = true;
        this.entry.text = text;
        this._isSetting = false;
    }

    /** @param {string} text what holds while nothing is typed */
    setHint(text) {
        if (this.entry.hint_text !== text)
            this.entry.hint_text = text;
    }

    focus() {
        this.entry.grab_key_focus();
    }
}
