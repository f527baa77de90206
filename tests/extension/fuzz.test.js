// What may come over the bus: any text is a state that every view can show, or a StateError. A few hundred texts, the
// same each time; ANTIDRIFT_FUZZ=100 makes it a hundred times as many, from a seed that is printed.
import assert from 'node:assert/strict';
import {test} from 'node:test';

import {clean, cut, ellipsize, isolate} from '../../gnome-extension/lib/text.js';
import {isKnownSchema, parseState, StateError} from '../../gnome-extension/lib/state.js';
import {UNTRANSLATED} from '../../gnome-extension/lib/translate.js';
import * as viewModel from '../../gnome-extension/lib/viewModel.js';
import {json, names} from './support/states.js';

const TIMES = Number(process.env.ANTIDRIFT_FUZZ ?? 1);
const SEED = Number(process.env.ANTIDRIFT_FUZZ_SEED ?? (TIMES === 1 ? 1 : Date.now() % 2 ** 31));

// toISOString throws for a moment that no calendar has.
const tr = {...UNTRANSLATED, time: unixMs => new Date(unixMs).toISOString().slice(11, 16)};

/** Numbers from 0 to below 1, the same for the same seed (mulberry32 by Tommy Ettinger, public domain). */
function* numbers(seed) {
    for (let state = seed; ;) {
        state = state + 0x6d2b79f5 | 0;
        let mixed = Math.imul(state ^ state >>> 15, 1 | state);
        mixed = mixed + Math.imul(mixed ^ mixed >>> 7, 61 | mixed) ^ mixed;
        yield ((mixed ^ mixed >>> 14) >>> 0) / 2 ** 32;
    }
}

const source = numbers(SEED);
const below = count => Math.floor(source.next().value * count);
const pick = list => list[below(list.length)];

const STRANGE = [
    '\0', '\x1b[2J', '\n', '\r', '\x85', '\u00ad', '\u200b', '\u200d', '\u2028', '\u202e', '\u2066', '\u2069',
    '\ud800', '\udfff', '\ufeff', '\ufffe', '\u{e0041}', '\u{1f468}\u200d', '\u0301', 'e\u0301', '\u05d0',
    '%s', '%d', '%', '<b>', '&', 'a', ' ', '…', '日',
];
const anyText = () => Array.from({length: below(40)}, () => pick(STRANGE)).join('');
const ODD = [
    null, true, false, 0, -1, 1, 1.5, 2 ** 31, 2 ** 53, -(2 ** 53), 8.64e15, 8.65e15, 1e300, '', ' ', 'true',
    'x'.repeat(1e5), [], {}, [[]], [null], {schema: 1}, {length: 3},
];

/** One of them, which may be changed. */
const odd = () => JSON.parse(JSON.stringify(pick(ODD)));

/** Every holder and key in a value of JSON. */
function* places(value) {
    if (typeof value !== 'object' || value === null)
        return;
    for (const key of Object.keys(value)) {
        yield [value, key];
        yield* places(value[key]);
    }
}

/** An example with a few values, keys or characters changed. */
function nearly(name) {
    const value = JSON.parse(json(name));
    for (let changes = below(4); changes > 0; changes--) {
        const all = [...places(value)];
        const [holder, key] = pick(all);
        const how = below(5);
        if (how === 0)
            delete holder[key];
        else if (how === 1)
            holder[key] = anyText();
        else if (how === 2 && typeof holder[key] === 'number')
            holder[key] = pick([0, 1, -1, 59, 60, 3599, 3600, 2 ** 53 - 1, -(2 ** 53 - 1), 8.64e15]);
        else if (how === 3)
            // Not by assignment: that would change its prototype, and be left out of the JSON.
            Object.defineProperty(holder, pick(['__proto__', 'toString', 'mood']), {
                value: odd(), enumerable: true, configurable: true, writable: true,
            });
        else
            holder[key] = odd();
    }
    const text = JSON.stringify(value);
    if (below(4) > 0)
        return text;
    const strange = pick([...STRANGE, '"', '{', ']', '9'.repeat(400)]);
    return text.slice(0, below(text.length)) + strange + text.slice(below(text.length));
}

/** All that the menu, the panel, the banner and the nudge make of a state. */
function showAll(state) {
    for (const presence of ['absent', 'connecting', 'present', 'newer'])
        viewModel.panelState(presence, state, tr);
    if (!isKnownSchema(state))
        return [];
    const {lastTime, coachNotice, tasksNotice, knowledgeNotice, nextAction, doneWhen, driftSentence} = viewModel;
    const {awaySentence, nudgeText, outcomeTitle, recapText, takeAlong, switchesText, aiQuestion} = viewModel;
    const {aiNotice, aiProgram, aiConsent, sensorNotice, storeNotice, taskTexts} = viewModel;
    const {interruptText, evidenceBars} = viewModel;
    // Classes are sent back as they are; of a plan they are shown by the names of their apps.
    const plan = () => ({...viewModel.proposedPlan(state), allowedClasses: []});
    return [
        lastTime, coachNotice, tasksNotice, knowledgeNotice, nextAction, doneWhen, driftSentence, awaySentence,
        nudgeText, outcomeTitle, recapText, takeAlong, switchesText, aiQuestion, aiNotice, aiProgram, aiConsent,
        sensorNotice, storeNotice, taskTexts, interruptText, evidenceBars, plan,
    ].map(view => [view.name, view(state, tr)]);
}

/** Every text in a value. */
function texts(value) {
    if (typeof value === 'string')
        return [value];
    return typeof value === 'object' && value !== null ? Object.values(value).flatMap(texts) : [];
}

/** A state that can be shown, or null for a text that is refused by name. */
function read(text) {
    try {
        return parseState(text);
    } catch (fault) {
        assert.ok(fault instanceof StateError, `${fault?.stack}`);
        assert.ok(fault.message.length < 200);
        return null;
    }
}

test(`any text is a state that every view can show, or is refused by name (seed ${SEED})`, t => {
    let understood = 0;
    for (let tried = 0; tried < 600 * TIMES; tried++) {
        const state = read(below(10) === 0 ? anyText() : nearly(pick(names)));
        if (state === null)
            continue;
        understood++;
        for (const [view, made] of showAll(state)) {
            for (const text of texts(made)) {
                assert.doesNotMatch(text, /[\p{Cc}\u202a-\u202e]/u, `${view} shows no control character`);
                assert.doesNotMatch(text, /undefined|NaN|Infinity|\[object/u, `${view} has all that it says`);
            }
        }
    }
    t.diagnostic(`${600 * TIMES} texts tried`); // counted by `make soak`
    assert.ok(understood > 100, `${understood} were understood, so the views have been tried`);
});

test('a text that is deep, long or cut short anywhere is refused by name', () => {
    for (const text of ['['.repeat(1e6), '{"schema":'.repeat(1e5), `{"schema":${'9'.repeat(1e5)}}`])
        assert.equal(read(text), null);
    for (const text of ['', 'null', '[]', '"text"', '\ufeff{}'])
        assert.equal(read(text), null);
    const whole = JSON.stringify(JSON.parse(json('active')));
    for (let length = 0; length < whole.length; length++)
        assert.equal(read(whole.slice(0, length)), null);
});

test('a moment that no calendar has is refused', () => {
    for (const [name, section, key] of [['away', 'away', 'since_ms'], ['active', 'ai', 'retry_at_ms']]) {
        for (const moment of [-1, 8.65e15, 253_370_764_800_001]) {
            const value = JSON.parse(json(name));
            value[section][key] = moment;
            assert.throws(() => parseState(JSON.stringify(value)), StateError);
        }
    }
});

test(`any text is cleaned and cut within its bounds, once and for all (seed ${SEED})`, t => {
    for (let tried = 0; tried < 300 * TIMES; tried++) {
        const text = anyText();
        const line = clean(text);
        assert.equal(clean(line), line);
        assert.doesNotMatch(line, /[\p{Cc}\u202a-\u202e\u2066-\u2069]/u);
        const max = 1 + below(20);
        assert.ok([...ellipsize(line, max)].length <= max);
        assert.ok([...cut(line, max)].length <= max);
        assert.match(isolate(text, max), /^(\u2068[^\u2066-\u2069]*\u2069)?$/u);
    }
    t.diagnostic(`${300 * TIMES} texts tried`);
});
