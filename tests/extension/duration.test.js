import assert from 'node:assert/strict';
import {test} from 'node:test';

import {duration, spokenDuration} from '../../gnome-extension/lib/duration.js';
import {UNTRANSLATED} from '../../gnome-extension/lib/translate.js';

for (const [secs, shown, spoken] of [
    [0, '0 s', '0 seconds'],
    [1, '1 s', '1 second'],
    [59.9, '59 s', '59 seconds'],
    [60, '1 min', '1 minute'],
    [89, '1 min', '1 minute'],
    [90, '2 min', '2 minutes'],
    [3600, '1 h', '1 hour'],
    [4800, '1 h 20 min', '1 hour 20 minutes'],
    [7260, '2 h 1 min', '2 hours 1 minute'],
]) {
    test(`${secs} seconds are ${shown}, and read aloud ${spoken}`, () => {
        assert.equal(duration(secs, UNTRANSLATED), shown);
        assert.equal(spokenDuration(secs, UNTRANSLATED), spoken);
    });
}
