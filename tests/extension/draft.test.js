import assert from 'node:assert/strict';
import {test} from 'node:test';

import {Draft} from '../../gnome-extension/lib/draft.js';

const PROPOSAL = {
    nextAction: 'Write the outline',
    successCondition: 'It has five headings',
    minutes: 40,
    allowedClasses: ['org.gnome.TextEditor'],
};

test('a plan begins with the default time and nothing else', () => {
    assert.deepEqual(new Draft().plan(), {nextAction: '', successCondition: '', minutes: 25, allowedClasses: []});
});

test('a proposal fills in what the person has left open', () => {
    const draft = new Draft();
    assert.equal(draft.fill('1', PROPOSAL), true);
    assert.deepEqual(draft.plan(), PROPOSAL);
});

test('a proposal never takes the place of what the person has typed or allowed', () => {
    const draft = new Draft();
    draft.type('successCondition', 'It is sent');
    draft.type('minutes', '10');
    draft.allow('firefox', true);
    draft.fill('1', PROPOSAL);
    const mine = {successCondition: 'It is sent', minutes: 10, allowedClasses: ['firefox']};
    assert.deepEqual(draft.plan(), {...PROPOSAL, ...mine});
});

test('the same proposal is filled in once, so that what was taken out of it stays out', () => {
    const draft = new Draft();
    draft.fill('1', PROPOSAL);
    draft.allow('org.gnome.TextEditor', false);
    draft.type('nextAction', '');
    assert.equal(draft.fill('1', PROPOSAL), false);
    assert.deepEqual(draft.plan(), {...PROPOSAL, nextAction: '', allowedClasses: []});
});

test('a field that was emptied is filled in by the next proposal', () => {
    const draft = new Draft();
    draft.type('nextAction', 'Something');
    draft.type('nextAction', ' ');
    draft.fill('2', PROPOSAL);
    assert.equal(draft.plan().nextAction, 'Write the outline');
});

test('a line is what will be done, until the coach knows better', () => {
    const draft = new Draft();
    draft.begin('the report');
    assert.equal(draft.text.intent, 'the report');
    assert.equal(draft.plan().nextAction, 'the report');
    draft.fill('1', PROPOSAL);
    assert.equal(draft.plan().nextAction, 'Write the outline');
});

test('minutes that are no number are no minutes', () => {
    const draft = new Draft();
    draft.type('minutes', 'soon');
    assert.equal(draft.plan().minutes, null);
});

test('an app is allowed once', () => {
    const draft = new Draft();
    draft.allow('firefox', true);
    draft.allow('firefox', true);
    assert.deepEqual(draft.plan().allowedClasses, ['firefox']);
});

test('a cleared draft forgets the plan, but not which proposal it has had', () => {
    const draft = new Draft();
    draft.type('nextAction', 'Something');
    draft.fill('1', PROPOSAL);
    draft.clear();
    assert.equal(draft.fill('1', PROPOSAL), false);
    assert.deepEqual(draft.plan(), new Draft().plan());
    assert.equal(draft.fill('2', PROPOSAL), true);
    assert.deepEqual(draft.plan(), PROPOSAL);
});
