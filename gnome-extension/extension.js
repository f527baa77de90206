// SPDX-License-Identifier: GPL-3.0-or-later
// @ts-check

import {Extension} from 'resource:///org/gnome/shell/extensions/extension.js';

export default class AntiDriftExtension extends Extension {
    enable() {
    }

    disable() {
    }
}
