import assert from 'node:assert/strict';
import {test} from 'node:test';

import {Countdown} from '../../gnome-extension/lib/countdown.js';

const SECOND = 1000;
const MINUTE = 60 * SECOND;

test('time runs from the moment at which it was said', () => {
    const countdown = new Countdown(5 * MINUTE, true, 1000);
    assert.equal(countdown.remainingMs(1000), 5 * MINUTE);
    assert.equal(countdown.remainingMs(1000 + MINUTE), 4 * MINUTE);
    assert.equal(countdown.remainingMs(1000 + 6 * MINUTE), 0);
});

test('a clock that is behind the moment does not add time', () => {
    assert.equal(new Countdown(MINUTE, true, 1000).remainingMs(0), MINUTE);
});

test('paused time stands still, and nothing has to wake up for it', () => {
    const countdown = new Countdown(5 * MINUTE, false, 0);
    assert.equal(countdown.label(3 * MINUTE), '5 min');
    assert.equal(countdown.msToNextLabel(3 * MINUTE), null);
    assert.equal(countdown.msToNextClock(3 * MINUTE), null);
});

for (const [left, label, clock] of [
    [100 * MINUTE, '1 h 40 min', '1:40:00'],
    [60 * MINUTE, '1 h', '1:00:00'],
    [25 * MINUTE, '25 min', '25:00'],
    [25 * MINUTE - 1, '25 min', '25:00'],
    [24 * MINUTE, '24 min', '24:00'],
    [MINUTE + 1, '2 min', '1:01'],
    [MINUTE, '1 min', '1:00'],
    [59 * SECOND + 1, '1 min', '1:00'],
    [59 * SECOND, '0:59', '0:59'],
    [1, '0:01', '0:01'],
    [0, '0:00', '0:00'],
]) {
    test(`${left} ms are ${label}, or ${clock} to the second`, () => {
        const countdown = new Countdown(Number(left), true, 0);
        assert.equal(countdown.label(0), label);
        assert.equal(countdown.clock(0), clock);
    });
}

test('nothing has to wake up once the time has run out', () => {
    const countdown = new Countdown(MINUTE, true, 0);
    assert.equal(countdown.msToNextLabel(MINUTE), null);
    assert.equal(countdown.msToNextClock(MINUTE), null);
});

test('waking up when told shows every label once, and no label is missed', () => {
    const countdown = new Countdown(2.5 * MINUTE + 0.3, true, 0);
    const seen = [countdown.label(0)];
    let now = 0;
    for (let wait = countdown.msToNextLabel(now); wait !== null; wait = countdown.msToNextLabel(now)) {
        assert.ok(Number.isInteger(wait) && wait > 0);
        assert.equal(countdown.label(now + wait - 2), seen.at(-1));
        now += wait;
        seen.push(countdown.label(now));
    }
    const seconds = Array.from({length: 60}, (_, index) => `0:${String(59 - index).padStart(2, '0')}`);
    assert.deepEqual(seen, ['3 min', '2 min', '1 min', ...seconds]);
});

test('the label says minutes in the language of the person', () => {
    const tr = {_: text => text.replace('min', 'мин'), ngettext: one => one};
    assert.equal(new Countdown(25 * MINUTE, true, 0).label(0, tr), '25 мин');
});
