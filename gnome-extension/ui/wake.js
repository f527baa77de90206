// SPDX-License-Identifier: GPL-3.0-or-later
// @ts-check

import GLib from 'gi://GLib';

/** Something to be done later, once. Setting it again replaces what was set before. */
export class Wake {
    constructor() {
        this._id = 0;
    }

    /**
     * @param {number} ms
     * @param {() => void} act
     */
    after(ms, act) {
        this.cancel();
        this._id = GLib.timeout_add(GLib.PRIORITY_DEFAULT, ms, () => {
            this._id = 0;
            act();
            return GLib.SOURCE_REMOVE;
        });
    }

    cancel() {
        if (this._id !== 0)
            GLib.source_remove(this._id);
        this._id = 0;
    }
}
