// SPDX-License-Identifier: GPL-3.0-or-later
// @ts-check

/**
 * The state of org.antidrift.Session: from the JSON on the bus to a value whose shape is certain.
 *
 * The readers below mirror dbus/state.schema.json, and a test holds them against it. What they let through, the rest of
 * the extension uses without asking. Keys that they do not know are left out: the service adds some without notice.
 */

/** The value of `schema` that this version understands. */
export const SCHEMA = 1;

// The year 9999, after which GLib knows no date.
const LAST_MS = 253_370_764_800_000;

/** The JSON is not a state. The message says where, never what stood there: states hold window titles. */
export class StateError extends Error {
    /** @param {string} message */
    constructor(message) {
        super(message);
        this.name = 'StateError';
    }
}

/**
 * Gives `value` back if it is what is expected `where` it stands, or throws a StateError.
 *
 * @template T
 * @typedef {(value: unknown, where: string) => T} Reader
 */

/** @type {Reader<string>} */
const text = (value, where) => {
    if (typeof value !== 'string')
        throw new StateError(`${where} is not a text`);
    return value;
};

/** @type {Reader<number>} */
const integer = (value, where) => {
    if (typeof value !== 'number' || !Number.isSafeInteger(value))
        throw new StateError(`${where} is not an integer`);
    return value;
};

/** @type {Reader<number>} */
const moment = (value, where) => {
    const unixMs = integer(value, where);
    if (unixMs < 0 || unixMs > LAST_MS)
        throw new StateError(`${where} is no moment`);
    return unixMs;
};

/** @type {Reader<boolean>} */
const flag = (value, where) => {
    if (typeof value !== 'boolean')
        throw new StateError(`${where} is neither true nor false`);
    return value;
};

/**
 * @template {string} T
 * @param {...T} values
 * @returns {Reader<T>}
 */
const oneOf = (...values) => (value, where) => {
    const found = values.find(known => known === value);
    if (found === undefined)
        throw new StateError(`${where} is none of ${values.join(', ')}`);
    return found;
};

/**
 * @template T
 * @param {Reader<T>} reader
 * @returns {Reader<T | null>}
 */
const nullable = reader => (value, where) => (value === null ? null : reader(value, where));

/**
 * @template T
 * @param {Reader<T>} reader
 * @returns {Reader<T[]>}
 */
const list = reader => (value, where) => {
    if (!Array.isArray(value))
        throw new StateError(`${where} is not a list`);
    return value.map((item, index) => reader(item, `${where}[${index}]`));
};

/**
 * @template {Record<string, Reader<any>>} R
 * @param {R} readers
 * @returns {Reader<{[K in keyof R]: ReturnType<R[K]>}>}
 */
const record = readers => (value, where) => {
    if (typeof value !== 'object' || value === null)
        throw new StateError(`${where} is not an object`);
    const fields = Object.entries(readers).map(([key, reader]) => [
        key,
        reader(/** @type {Record<string, unknown>} */ (value)[key], `${where}.${key}`),
    ]);
    return Object.fromEntries(fields);
};

// A code is for translation only, so one that is new to us is no reason to show nothing.
const error = record({code: text, message: text});

const readCommitment = record({
    id: text,
    next_action: text,
    success_condition: text,
    timebox_secs: integer,
    started_at_ms: integer,
    deadline_ms: integer,
    remaining_ms: integer,
    running: flag,
    allowed_window_classes: list(text),
    allowed_sites: list(text),
});

const readCoach = record({
    status: oneOf('idle', 'pending', 'ready', 'error'),
    request_id: integer,
    proposal: nullable(record({
        next_action: text,
        success_condition: text,
        timebox_secs: integer,
        allowed_window_classes: list(text),
    })),
    error: nullable(error),
});

const fetchStatus = oneOf('idle', 'pending', 'ready', 'absent');

const readTasks = record({
    status: fetchStatus,
    items: list(record({text, source: text})),
    error: nullable(error),
});

const readKnowledge = record({status: fetchStatus, error: nullable(error)});

const readReflection = record({status: fetchStatus, recap: text, carry_forward: text});

const readDrift = record({
    status: oneOf('idle', 'pending', 'ontask', 'drifting'),
    reason: text,
    nudge: text,
    subject: nullable(record({class: text, site: text})),
    episode: integer,
    since_ms: nullable(moment),
    interrupt: flag,
});

const readAway = record({
    active: flag,
    cause: nullable(oneOf('idle', 'lock', 'sleep', 'unobserved')),
    since_ms: nullable(moment),
    total_secs: integer,
    paused: flag,
});

const readEvidence = record({
    health: oneOf('ok', 'degraded', 'absent'),
    source: oneOf('x11', 'shell', 'none'),
    error: nullable(error),
    window: nullable(record({class: text, title: text})),
    window_since_ms: nullable(moment),
    switch_count: integer,
    buckets: list(record({class: text, title: text, secs: integer})),
});

const readState = record({
    schema: integer,
    instance: text,
    seq: integer,
    runtime_state: oneOf('locked', 'planning', 'active', 'review'),
    commitment: nullable(readCommitment),
    coach: nullable(readCoach),
    tasks: nullable(readTasks),
    knowledge: nullable(readKnowledge),
    reflection: nullable(readReflection),
    drift: nullable(readDrift),
    away: nullable(readAway),
    evidence: nullable(readEvidence),
    outcome: nullable(oneOf('completed', 'expired', 'interrupted')),
    ai: record({
        backend: text,
        available: flag,
        consent: oneOf('unasked', 'given', 'refused'),
        error: nullable(error),
        retry_at_ms: nullable(moment),
    }),
    store: record({error: nullable(error)}),
});

// What holds in every schema: enough to tell that a state is newer than this extension.
const readHead = record({schema: integer, instance: text, seq: integer});

/**
 * Which sections each phase has; the others are null.
 *
 * @type {Record<State['runtime_state'], (keyof State)[]>}
 */
const SECTIONS = {
    locked: ['reflection'],
    planning: ['coach', 'tasks', 'knowledge', 'reflection'],
    active: ['commitment', 'drift', 'away', 'evidence'],
    review: ['commitment', 'reflection', 'away', 'evidence', 'outcome'],
};

/**
 * @typedef {ReturnType<typeof readState>} State
 * @typedef {NonNullable<State['commitment']>} Commitment
 * @typedef {NonNullable<NonNullable<State['coach']>['proposal']>} Proposal
 * @typedef {ReturnType<typeof error>} Fault
 */

/**
 * @param {string} json of StateChanged or GetState
 * @returns {State} certain in all its parts, or, where `isKnownSchema` says no, only in `schema`, `instance`, `seq`
 * @throws {StateError} it is not a state
 */
export function parseState(json) {
    let value;
    try {
        value = JSON.parse(json);
    } catch {
        throw new StateError('the state is not JSON');
    }
    const head = readHead(value, 'state');
    if (head.schema !== SCHEMA)
        return /** @type {State} */ (head);
    const state = readState(value, 'state');
    for (const section of SECTIONS[state.runtime_state]) {
        if (state[section] === null)
            throw new StateError(`state.${section} is missing while ${state.runtime_state}`);
    }
    return state;
}

/**
 * Whether this version of the extension knows what the state says; if not, the service is newer.
 *
 * @param {State} state
 */
export function isKnownSchema(state) {
    return state.schema === SCHEMA;
}
