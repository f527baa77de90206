import assert from 'node:assert/strict';
import {test} from 'node:test';

import {clean, cut, ellipsize, fill, isolate} from '../../gnome-extension/lib/text.js';

test('control characters and white space become one space, and none at the ends', () => {
    assert.equal(clean(' a\n\tb\x07c\u2028d\u00a0\u3000e\x00 '), 'a b c d e');
});

test('controls of direction and invisible format characters go', () => {
    assert.equal(clean('a\u202e\u2066b\u2069\u200f\u00ad\ufeffc\u{e0041}'), 'abc');
    assert.equal(clean('a \u202e b'), 'a b');
});

test('joiners and the signs around Arabic numbers stay, for they are seen', () => {
    for (const text of ['👩\u200d💻', 'می\u200cخواهم', '\u0600١٢'])
        assert.equal(clean(text), text);
});

test('half a surrogate pair becomes a replacement character', () => {
    assert.equal(clean('a\ud800b'), 'a\ufffdb');
    assert.equal(clean('😀'), '😀');
});

test('letters and accents are composed', () => {
    assert.equal(clean('Cafe\u0301'), 'Café');
});

test('what looks like markup is left as it is', () => {
    assert.equal(clean('<b>a</b> & b'), '<b>a</b> & b');
});

test('an isolate holds cleaned text, and an empty one is no isolate', () => {
    assert.equal(isolate(' \u202eשלום '), '\u2068שלום\u2069');
    assert.equal(isolate('\u202e \n'), '');
});

test('an isolate that is cut is closed all the same', () => {
    assert.equal(isolate('abcdef', 4), '\u2068abc…\u2069');
});

test('text is cut only where it is too long, and the dots count', () => {
    assert.equal(ellipsize('abcd', 4), 'abcd');
    assert.equal(ellipsize('abcde', 4), 'abc…');
    assert.equal(ellipsize('ab cde', 4), 'ab…');
    assert.equal(ellipsize('abc', 1), '…');
});

test('cutting parts no emoji, no letter from its accent and no pair of surrogates', () => {
    assert.equal(ellipsize('ab👩\u200d💻cd', 5), 'ab…');
    assert.equal(ellipsize('ab👍🏽cd', 4), 'ab…');
    assert.equal(ellipsize('x\u0323\u0307yz', 3), '…');
    assert.equal(ellipsize('😀😀😀', 2), '😀…');
    assert.equal(cut('😀😀😀', 2), '😀😀');
});

test('a sentence takes its values in turn or by number, and never looks into them', () => {
    assert.equal(fill('%s: %d %%', '%s', 3), '%s: 3 %');
    assert.equal(fill('%2$s %1$s', 'a', 'b'), 'b a');
    assert.equal(fill('%s', '$1$&'), '$1$&');
});
