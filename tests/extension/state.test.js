import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {test} from 'node:test';

import {isKnownSchema, parseState, SCHEMA, StateError} from '../../gnome-extension/lib/state.js';
import {json, names, state} from './support/states.js';

const schema = JSON.parse(readFileSync(new URL('../../dbus/state.schema.json', import.meta.url), 'utf8'));

/** What a value of the schema may be: itself, or one of its alternatives, with references followed. */
function alternatives(node) {
    if (node.$ref)
        return alternatives(schema.$defs[node.$ref.split('/').at(-1)]);
    return node.anyOf ? node.anyOf.flatMap(alternatives) : [node];
}

/** Every place in `value` that the schema describes: where it is, and what it may be there. */
function* places(value, node, path = []) {
    const kinds = alternatives(node);
    yield {path, kinds};
    const kind = kinds.find(one => one.type === (Array.isArray(value) ? 'array' : typeof value));
    if (value === null || !kind)
        return;
    for (const key of Array.isArray(value) ? value.keys() : kind.required ?? [])
        yield* places(value[key], kind.items ?? kind.properties[key], [...path, key]);
}

/** The example with another value, or none, in one place. */
function changed(name, path, value) {
    const copy = JSON.parse(json(name));
    const parent = path.slice(0, -1).reduce((inner, key) => inner[key], copy);
    if (value === undefined)
        delete parent[path.at(-1)];
    else
        parent[path.at(-1)] = value;
    return JSON.stringify(copy);
}

for (const name of names) {
    test(`the example ${name} comes through unchanged`, () => {
        assert.deepEqual(state(name), JSON.parse(json(name)));
    });

    test(`whatever the schema requires in ${name} is required, and of the type that it says`, () => {
        for (const {path, kinds} of places(JSON.parse(json(name)), schema)) {
            if (path.length === 0)
                continue;
            assert.throws(() => parseState(changed(name, path, undefined)), StateError, `${path} is missing`);
            // A wrong `schema` is another matter, below.
            const wrong = kinds.some(kind => kind.type === 'object') ? 'text' : {};
            assert.throws(() => parseState(changed(name, path, wrong)), StateError, `${path} is of another type`);
        }
    });

    test(`every value that the schema lists for ${name} is known, and no other`, () => {
        for (const {path, kinds} of places(JSON.parse(json(name)), schema)) {
            const values = kinds.flatMap(kind => kind.enum ?? []);
            if (values.length === 0 || path.at(-1) === 'runtime_state')
                continue;
            for (const value of values)
                assert.doesNotThrow(() => parseState(changed(name, path, value)), `${path} is ${value}`);
            if (path.at(-1) !== 'code')
                assert.throws(() => parseState(changed(name, path, 'surprising')), StateError, `${path} is odd`);
        }
    });
}

test('a number that is no integer is refused', () => {
    assert.throws(() => parseState(changed('active', ['seq'], 1.5)), StateError);
    assert.throws(() => parseState(changed('active', ['commitment', 'remaining_ms'], 2 ** 60)), StateError);
});

test('keys that are new are left out', () => {
    const next = parseState(changed('active', ['drift', 'mood'], 'fine'));
    assert.equal('mood' in next.drift, false);
});

test('a code that is new is no reason to show nothing', () => {
    const next = parseState(changed('degraded-active', ['store', 'error', 'code'], 'on_fire'));
    assert.equal(next.store.error.code, 'on_fire');
});

test('a section that belongs to the phase must be there', () => {
    assert.throws(() => parseState(changed('active', ['drift'], null)), /state\.drift is missing while active/);
    assert.throws(() => parseState(changed('review', ['outcome'], null)), StateError);
});

test('a newer service is recognised by its schema, whatever else has changed', () => {
    const next = parseState(JSON.stringify({schema: SCHEMA + 1, instance: 'a', seq: 3, everything: 'else'}));
    assert.equal(isKnownSchema(next), false);
    assert.equal(isKnownSchema(state('active')), true);
});

test('what is no state at all is refused', () => {
    for (const text of ['', '{', 'null', '[]', '3', '"text"', '{}', '{"schema": "1", "instance": "a", "seq": 1}'])
        assert.throws(() => parseState(text), StateError, text);
});

test('what is refused is not quoted, for it may be a window title', () => {
    assert.throws(() => parseState(changed('active', ['evidence', 'health'], 'My secret')), error => {
        assert.ok(error instanceof StateError);
        assert.doesNotMatch(error.message, /secret/);
        return true;
    });
});
