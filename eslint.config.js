// What JavaScript must look like here, and who may import what. Types are checked by TypeScript: tsconfig.json.
import js from '@eslint/js';
import stylistic from '@stylistic/eslint-plugin';

const WINDOW_MANAGER = ['gi://Clutter', 'gi://Cogl', 'gi://Meta', 'gi://Mtk', 'gi://Shell', 'gi://St'];
const TOOLKIT = ['gi://Adw', 'gi://Gdk', 'gi://Gtk'];

/** Modules that work without GNOME: `node --test` runs them. */
const PURE = ['countdown', 'draft', 'duration', 'faults', 'state', 'text', 'translate', 'viewModel']
    .map(name => `gnome-extension/lib/${name}.js`);

// GNOME writes it on a line of its own, and not indented.
const REGISTERED_CLASS = 'CallExpression[callee.property.name=registerClass] > ClassExpression';

const globals = names => Object.fromEntries(names.map(name => [name, 'readonly']));

/** Refuses imports that match, and says why. */
const without = (group, message) => ['error', {patterns: [{group, message}]}];

export default [
    js.configs.recommended,
    {
        plugins: {'@stylistic': stylistic},
        linterOptions: {reportUnusedDisableDirectives: 'error'},
        rules: {
            'eqeqeq': 'error',
            'no-unused-vars': ['error', {argsIgnorePattern: '^_', caughtErrors: 'all'}],
            'no-var': 'error',
            'no-shadow': 'error',
            'object-shorthand': 'error',
            'prefer-arrow-callback': 'error',
            'prefer-const': 'error',
            'prefer-template': 'error',
            '@stylistic/arrow-parens': ['error', 'as-needed'],
            '@stylistic/brace-style': 'error',
            '@stylistic/comma-dangle': ['error', 'always-multiline'],
            '@stylistic/comma-spacing': 'error',
            '@stylistic/eol-last': 'error',
            '@stylistic/indent': ['error', 4, {
                SwitchCase: 0,
                ignoredNodes: ['ConditionalExpression', REGISTERED_CLASS],
            }],
            '@stylistic/key-spacing': 'error',
            '@stylistic/keyword-spacing': 'error',
            '@stylistic/max-len': ['error', {code: 120, ignoreUrls: true}],
            '@stylistic/no-multi-spaces': 'error',
            '@stylistic/no-multiple-empty-lines': ['error', {max: 1, maxBOF: 0, maxEOF: 0}],
            '@stylistic/no-tabs': 'error',
            '@stylistic/no-trailing-spaces': 'error',
            '@stylistic/object-curly-spacing': 'error',
            '@stylistic/quotes': ['error', 'single', {avoidEscape: true, allowTemplateLiterals: 'always'}],
            '@stylistic/semi': 'error',
            '@stylistic/space-before-blocks': 'error',
            '@stylistic/space-infix-ops': 'error',
        },
    },
    {
        // The process of the shell: extensions.gnome.org refuses an import of the toolkit there, and the reverse.
        files: ['gnome-extension/**/*.js'],
        languageOptions: {globals: globals(['console', 'global', 'TextDecoder', 'TextEncoder'])},
        rules: {
            'no-restricted-imports': without(TOOLKIT, 'The toolkit does not belong in the process of the shell.'),
        },
    },
    {
        files: ['gnome-extension/prefs.js', 'gnome-extension/lib/prefs/**/*.js'],
        languageOptions: {globals: globals(['console'])},
        rules: {
            'no-restricted-imports': without(WINDOW_MANAGER, 'The shell is another process: only the toolkit here.'),
        },
    },
    {
        files: PURE,
        languageOptions: {globals: globals([])},
        rules: {
            'no-restricted-imports': without(['gi://*', 'resource://*'], 'This module is to run without GNOME.'),
        },
    },
    {
        files: ['*.js', 'tests/**/*.js'],
        languageOptions: {globals: globals(['URL', 'console', 'process', 'setTimeout', 'clearTimeout'])},
    },
];
