import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {test} from 'node:test';

import {faultSentence, refusalSentence} from '../../gnome-extension/lib/faults.js';
import {UNTRANSLATED} from '../../gnome-extension/lib/translate.js';

const shouting = {...UNTRANSLATED, _: text => text.toUpperCase()};
const read = path => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

test('every fault that the service can name has a sentence to be translated', () => {
    for (const code of JSON.parse(read('dbus/state.schema.json')).$defs.FaultCode.enum)
        assert.match(faultSentence({code, message: 'in English'}, shouting), /^[A-Z ]+[,.]/, code);
});

test('every refusal that the interface documents has a sentence to be translated', () => {
    const documented = new Set(read('dbus/org.antidrift.Session.xml').match(/(?<=org\.antidrift\.Error\.)\w+/g));
    assert.ok(documented.size >= 10);
    for (const name of documented)
        assert.match(refusalSentence(name, 'in English', shouting), /^[A-Z ,']+\./, name);
});

test('without a translation the sentence of the service is shown, for it is more exact', () => {
    const fault = {code: 'unavailable', message: 'The program\nclaude was not found.'};
    assert.equal(faultSentence(fault, UNTRANSLATED), 'The program claude was not found.');
    assert.equal(refusalSentence('NotActive', 'No session is active.', UNTRANSLATED), 'No session is active.');
});

test('without a sentence of the service ours is shown', () => {
    assert.equal(refusalSentence('Absent', '', UNTRANSLATED), 'AntiDrift is not running.');
    assert.equal(refusalSentence('constructor', '', UNTRANSLATED), 'Something went wrong.');
});

test('a code that is new is told in the words of the service', () => {
    assert.equal(faultSentence({code: 'on_fire', message: 'It burns.'}, shouting), 'It burns.');
});

test('no fault is no sentence', () => {
    assert.equal(faultSentence(null, UNTRANSLATED), '');
});
