// SPDX-License-Identifier: GPL-3.0-or-later
// @ts-check

import {Extension} from 'resource:///org/gnome/shell/extensions/extension.js';

import {SessionProxy} from './lib/sessionProxy.js';
import {Indicator} from './ui/indicator.js';

export default class AntiDriftExtension extends Extension {
    enable() {
        this._settings = this.getSettings();
        this._session = new SessionProxy();
        this._indicator = new Indicator(this, this._session, this._settings);
        this._session.start();
    }

    disable() {
        this._indicator?.destroy();
        this._indicator = null;
        this._session?.destroy();
        this._session = null;
        this._settings = null;
    }
}
