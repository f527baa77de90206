// The example states that the Python tests hold against the service: both ends are tested on the same bytes.
import {readdirSync, readFileSync} from 'node:fs';

import {parseState} from '../../../gnome-extension/lib/state.js';

const folder = new URL('../../fixtures/state/', import.meta.url);

/** The names of all examples. */
export const names = readdirSync(folder)
    .filter(file => file.endsWith('.json'))
    .map(file => file.slice(0, -'.json'.length));

/** @param {string} name */
export function json(name) {
    return readFileSync(new URL(`${name}.json`, folder), 'utf8');
}

/**
 * The example, as the extension has it.
 *
 * @param {string} name
 */
export function state(name) {
    return parseState(json(name));
}
