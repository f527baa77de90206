import assert from 'node:assert/strict';
import {test} from 'node:test';

import {UNTRANSLATED} from '../../gnome-extension/lib/translate.js';
import * as viewModel from '../../gnome-extension/lib/viewModel.js';
import {names, state} from './support/states.js';

const tr = {...UNTRANSLATED, time: unixMs => new Date(unixMs).toISOString().slice(11, 16)};

/** The text without the isolates around what comes from outside. */
const plain = text => text.replace(/[\u2068\u2069]/g, '');

/** The example, with some keys of one section changed. */
function like(name, section, changes) {
    const example = state(name);
    return {...example, [section]: {...example[section], ...changes}};
}

for (const [presence, name, icon, said, showTime] of [
    ['absent', null, 'absent', 'AntiDrift: not running', false],
    ['connecting', null, 'absent', 'AntiDrift: connecting', false],
    ['present', 'untouched', 'idle', 'AntiDrift: no session', false],
    ['present', 'planning', 'planning', 'AntiDrift: planning', false],
    ['present', 'active', 'active', 'AntiDrift: session running', true],
    ['present', 'drifting', 'drifting', 'AntiDrift: session running, drifting', true],
    ['present', 'away', 'away', 'AntiDrift: session running, away', true],
    ['present', 'review', 'review', 'AntiDrift: session over, time to look back', false],
]) {
    test(`the panel of a service that is ${presence}, ${name ?? 'without a state'}, says "${said}"`, () => {
        const shown = viewModel.panelState(presence, name && state(name), tr);
        assert.deepEqual(shown, {icon, accessibleName: said, showTime});
    });
}

test('the panel of a service that is newer says so, and reads nothing else of its state', () => {
    const shown = viewModel.panelState('newer', {schema: 2, instance: 'a', seq: 1}, tr);
    assert.equal(shown.icon, 'absent');
    assert.match(shown.accessibleName, /newer than this extension/);
});

test('last time is told where there was a takeaway', () => {
    for (const name of ['locked', 'planning'])
        assert.equal(plain(viewModel.lastTime(state(name), tr)), 'Last time: Close the browser before you begin.');
    assert.equal(viewModel.lastTime(state('untouched'), tr), '');
});

test('one typed line is a whole plan', () => {
    assert.deepEqual(viewModel.planDefaults('  Write\tthe report '), {
        nextAction: 'Write the report',
        successCondition: 'Write the report',
        minutes: 25,
        allowedClasses: [],
    });
});

test('a plan becomes what StartCommitment takes', () => {
    const refined = {successCondition: ' It has an end ', minutes: 40, allowedClasses: ['a']};
    const plan = {...viewModel.planDefaults('Write'), ...refined};
    assert.deepEqual(viewModel.commitmentOf(plan), ['Write', 'It has an end', 2400, ['a']]);
    assert.equal(viewModel.commitmentOf({...plan, successCondition: ' '})[1], 'Write');
    assert.equal([...viewModel.commitmentOf({...plan, nextAction: '😀'.repeat(501)})[0]].length, 500);
});

test('what is missing in a plan is said', () => {
    const plan = viewModel.planDefaults('Write');
    assert.equal(viewModel.planProblem(plan, tr), '');
    assert.equal(viewModel.planProblem({...plan, nextAction: ' \u202e'}, tr), 'Say what you will do next.');
    assert.match(viewModel.planProblem({...plan, minutes: null}, tr), /from 1 to 1440/);
});

test('minutes are a whole number from 1 to 1440', () => {
    assert.equal(viewModel.minutesFrom(' 25 '), 25);
    assert.equal(viewModel.minutesFrom('1440'), 1440);
    for (const text of ['', '0', '1441', '-5', '2.5', '1e3', '٢٥', 'many'])
        assert.equal(viewModel.minutesFrom(text), null, text);
});

test('a proposal is a plan with minutes', () => {
    assert.deepEqual(viewModel.proposedPlan(state('planning')), {
        nextAction: 'Draft section two',
        successCondition: 'Section two has three paragraphs',
        minutes: 30,
        allowedClasses: ['org.gnome.TextEditor', 'org.mozilla.firefox'],
    });
    assert.equal(viewModel.proposedPlan(state('degraded-planning')), null);
    assert.equal(viewModel.proposedPlan(state('active')), null);
});

test('planning says what the coach is doing and what could not be read', () => {
    const degraded = state('degraded-planning');
    assert.equal(viewModel.coachNotice(degraded, tr), 'The program claude was not found.');
    assert.equal(viewModel.tasksNotice(degraded, tr), 'Tasks: Taskwarrior failed.');
    assert.equal(viewModel.knowledgeNotice(degraded, tr), 'Profile: The profile is not UTF-8 text.');
    assert.equal(viewModel.coachNotice(like('planning', 'coach', {status: 'pending'}), tr), 'Sharpening…');
    for (const notice of [viewModel.coachNotice, viewModel.tasksNotice, viewModel.knowledgeNotice])
        assert.equal(notice(state('planning'), tr), '');
});

test('tasks are literal text', () => {
    assert.deepEqual(viewModel.taskTexts(state('planning')), ['Answer the letter', 'Water the <b>plants</b>']);
});

test('how to know that it is done is said unless it says nothing new', () => {
    assert.equal(plain(viewModel.doneWhen(state('active'), tr)), 'Done when: It has three paragraphs');
    assert.equal(viewModel.doneWhen(like('active', 'commitment', {success_condition: 'Draft section two '}), tr), '');
});

for (const [drift, said] of [
    [{status: 'idle', subject: null}, ''],
    [{status: 'pending'}, 'Looking at this window…'],
    [{status: 'ontask', subject: null}, 'On task'],
    [{status: 'ontask', subject: {class: 'org.gnome.TextEditor', site: ''}}, 'On task – TextEditor'],
    [{status: 'drifting'}, 'Drifting – YouTube: Videos of animals do not finish the report.'],
    [{status: 'drifting', reason: ''}, 'Drifting – YouTube'],
    [{status: 'drifting', subject: {class: 'steam', site: ''}, reason: ''}, 'Drifting – Steam'],
    [{status: 'drifting', subject: null}, 'Drifting – Videos of animals do not finish the report.'],
    [{status: 'drifting', subject: null, reason: ''}, 'Drifting'],
]) {
    test(`a window that is ${JSON.stringify(drift)} reads "${said}"`, () => {
        assert.equal(plain(viewModel.driftSentence(like('drifting', 'drift', drift), tr)), said);
    });
}

test('what comes from outside cannot turn a sentence round', () => {
    const shown = like('drifting', 'drift', {subject: {class: 'x', site: 'a\u202eb'}, reason: ''});
    assert.equal(viewModel.driftSentence(shown, tr), 'Drifting – \u2068ab\u2069');
});

test('away says since when, why, and whether the time waits', () => {
    assert.equal(viewModel.awaySentence(state('away'), tr), 'Away since 22:18: screen locked. The time waits.');
    const idle = like('away', 'away', {cause: 'idle', paused: false});
    assert.equal(viewModel.awaySentence(idle, UNTRANSLATED), 'Away: no keyboard or pointer used.');
    assert.equal(viewModel.awaySentence(state('active'), tr), '');
});

test('after an absence the menu says how long all of them were, unless they were in passing', () => {
    const back = secs => viewModel.awaySentence(like('active', 'away', {total_secs: secs}), tr);
    assert.equal(back(59), '');
    assert.equal(back(60), 'Away for 1 min so far.');
    assert.equal(back(4800), 'Away for 1 h 20 min so far.');
});

test('the banner names the task, the distraction and the reason', () => {
    const shown = viewModel.interruptText(state('drifting'), tr);
    assert.equal(plain(shown.title), 'Still on “Draft section two”?');
    assert.equal(plain(shown.body), 'YouTube: Videos of animals do not finish the report.');
    const silent = viewModel.interruptText(like('drifting', 'drift', {reason: ''}), tr);
    assert.equal(plain(silent.body), 'YouTube does not look like it.');
});

test('the nudge is the text of the service', () => {
    assert.equal(viewModel.nudgeText(state('active')), 'You may be polishing a list instead of the report.');
    assert.equal(viewModel.nudgeText(state('review')), '');
});

test('a review has a title, a look-back and something to take along', () => {
    const review = state('review');
    assert.equal(viewModel.outcomeTitle(review, tr), 'Completed');
    assert.equal(viewModel.recapText(review, tr), 'You wrote for five minutes.');
    assert.equal(plain(viewModel.takeAlong(review, tr)), 'Take along: Close the browser before you begin.');
    assert.equal(viewModel.outcomeTitle(state('degraded-review'), tr), 'Time is up');
    assert.equal(viewModel.outcomeTitle({...review, outcome: 'interrupted'}, tr), 'Interrupted');
});

test('a look-back that is not there says why, unless nobody was asked', () => {
    assert.match(viewModel.recapText(state('review-pending'), tr), /is being written/);
    assert.match(viewModel.recapText(state('degraded-review'), tr), /gave no answer/);
    assert.equal(viewModel.recapText(like('review', 'reflection', {status: 'idle', recap: ''}), tr), '');
});

test('bars gather the time per app, the most first', () => {
    const bars = viewModel.evidenceBars(state('review'), tr);
    assert.deepEqual(bars.map(bar => [bar.name, bar.secs, bar.label]), [
        ['TextEditor', 300, '5 min'],
        ['Firefox', 100, '2 min'],
    ]);
    assert.deepEqual(bars.map(bar => bar.share), [1, 1 / 3]);
    assert.deepEqual(bars.map(bar => plain(bar.accessibleName)), ['TextEditor, 5 minutes', 'Firefox, 2 minutes']);
});

test('away is a bar, unless only the apps are asked for', () => {
    const bars = options => viewModel.evidenceBars(state('away'), tr, options).map(bar => bar.name);
    assert.deepEqual(bars(), ['TextEditor', 'Away']);
    assert.deepEqual(bars({away: false}), ['TextEditor']);
});

test('an absence or an empty desktop of less than ten seconds is no bar, an app is', () => {
    const bars = secs => {
        const buckets = ['(none)', 'firefox'].map(name => ({class: name, title: '', secs}));
        const review = {...like('review', 'evidence', {buckets}), away: {...state('away').away, total_secs: secs}};
        return viewModel.evidenceBars(review, tr).map(bar => bar.name);
    };
    assert.deepEqual(bars(9.9), ['Firefox']);
    assert.deepEqual(bars(10), ['No window', 'Firefox', 'Away']);
});

test('what does not fit is gathered in the last bar, and nothing is lost', () => {
    const buckets = [...'abcdefgh'].map((name, index) => ({class: name, title: '', secs: 80 - index * 10}));
    buckets.push({class: '(other)', title: '', secs: 75}, {class: '(none)', title: '', secs: 15});
    const bars = viewModel.evidenceBars(like('review', 'evidence', {buckets}), tr, {max: 3});
    assert.deepEqual(bars.map(bar => bar.name), ['A', 'B', 'Other windows']);
    assert.equal(bars.reduce((sum, bar) => sum + bar.secs, 0), 450);
    assert.ok(bars.every(bar => bar.share > 0 && bar.share <= 1));
});

test('the time away keeps a bar of its own, however many apps had more', () => {
    const buckets = [...'abcdefgh'].map((name, index) => ({class: name, title: '', secs: 800 - index * 10}));
    const shown = {...like('review', 'evidence', {buckets}), away: {...state('away').away, total_secs: 60}};
    const bars = () => viewModel.evidenceBars(shown, tr, {max: 4}).map(bar => [bar.name, bar.secs]);
    assert.deepEqual(bars(), [['A', 800], ['B', 790], ['Away', 60], ['Other windows', 4530]]);
    shown.away.total_secs = 795;
    assert.deepEqual(bars(), [['A', 800], ['Away', 795], ['B', 790], ['Other windows', 4530]]);
});

test('there is no bar where there was no time', () => {
    assert.deepEqual(viewModel.evidenceBars(like('review', 'evidence', {buckets: []}), tr), []);
    assert.deepEqual(viewModel.evidenceBars(state('locked'), tr), []);
});

for (const [windowClass, name] of [
    ['firefox', 'Firefox'],
    ['org.gnome.TextEditor', 'TextEditor'],
    ['org.gnome.Nautilus.desktop', 'Nautilus'],
    ['libreoffice-writer', 'Libreoffice-writer'],
    ['example.com', 'Example.com'],
    ['(none)', 'No window'],
]) {
    test(`the window class ${windowClass} reads ${name}`, () => {
        assert.equal(viewModel.appName(windowClass, tr), name);
    });
}

test('the desktop knows better how an app is called', () => {
    const desktop = {...tr, appName: windowClass => (windowClass === 'org.gnome.TextEditor' ? 'Text\nEditor' : null)};
    assert.equal(viewModel.appName('org.gnome.TextEditor', desktop), 'Text Editor');
    assert.equal(viewModel.appName('firefox', desktop), 'Firefox');
});

test('switches are counted in words', () => {
    assert.equal(viewModel.switchesText(state('active'), tr), '1 switch');
    assert.equal(viewModel.switchesText(like('active', 'evidence', {switch_count: 4}), tr), '4 switches');
    assert.equal(viewModel.switchesText(state('away'), tr), '');
});

test('the question about window titles is asked once, and only where there is an AI to ask', () => {
    const asked = viewModel.aiQuestion(state('untouched'), tr);
    assert.equal(plain(asked), 'May claude see window titles, to tell work from drift?');
    assert.equal(viewModel.aiQuestion(state('locked'), tr), '');
    assert.equal(viewModel.aiQuestion(like('untouched', 'ai', {available: false}), tr), '');
});

test('preferences name the AI, what it may see and what is wrong with it', () => {
    assert.equal(plain(viewModel.aiProgram(state('active'), tr)), 'claude');
    assert.equal(viewModel.aiConsent(state('active'), tr), 'It may see window titles.');
    assert.equal(viewModel.aiConsent(state('untouched'), tr), 'Whether it may see window titles is asked in the menu.');
    const degraded = state('degraded-planning');
    assert.equal(plain(viewModel.aiProgram(degraded, tr)), 'claude: The program claude was not found.');
    assert.equal(viewModel.aiConsent(degraded, tr), 'It may not see window titles.');
    assert.equal(viewModel.aiConsent(like('untouched', 'ai', {available: false}), tr), '');
    const without = like('untouched', 'ai', {backend: 'none'});
    assert.equal(viewModel.aiProgram(without, tr), 'None. Everything works without one.');
    assert.equal(viewModel.aiConsent(without, tr), '');
});

test('what is degraded is said, in every state where it matters', () => {
    const active = state('degraded-active');
    assert.equal(viewModel.aiNotice(active, tr), 'AI: The AI program has no connection. Asked again from 22:19 on.');
    assert.equal(viewModel.sensorNotice(active, tr), 'No windows are seen: The X server cannot be reached.');
    assert.equal(viewModel.storeNotice(active, tr), 'Files: The disk is full.');
    const partly = like('degraded-active', 'evidence', {health: 'degraded'});
    assert.match(viewModel.sensorNotice(partly, tr), /^Not every window is seen: /);
    assert.match(viewModel.aiNotice(state('degraded-review'), tr), /is not logged in\.$/);
});

test('a sensor that has only just been started is no fault, nor is an AI that nobody wants', () => {
    assert.equal(viewModel.sensorNotice(state('degraded-review'), tr), '');
    assert.equal(viewModel.aiNotice(like('degraded-planning', 'ai', {backend: 'none'}), tr), '');
});

test('a translation takes the place of the English of the service, by the code', () => {
    const german = {...tr, _: text => (text === 'The disk is full.' ? 'Der Datenträger ist voll.' : text)};
    assert.equal(viewModel.storeNotice(state('degraded-active'), german), 'Files: Der Datenträger ist voll.');
});

test('no example of a state makes any of it fail or say "undefined"', () => {
    const ofOtherThings = [
        'panelState', 'newerSentence', 'planDefaults', 'minutesFrom', 'planProblem', 'commitmentOf', 'appName',
    ];
    for (const [called, say] of Object.entries(viewModel)) {
        if (typeof say !== 'function' || ofOtherThings.includes(called))
            continue;
        for (const name of names) {
            const said = JSON.stringify(say(state(name), tr)) ?? 'undefined';
            assert.doesNotMatch(said, /undefined|NaN|%[sd]/, `${called} of ${name}`);
        }
    }
});
