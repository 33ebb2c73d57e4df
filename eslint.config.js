// What ESLint looks for in the pages: faults, and lines that nobody can read. How code is laid out is nobody's quarrel.
import js from './.peers/pages/node_modules/@eslint/js/src/index.js';
import globals from './.peers/pages/node_modules/globals/index.js';

// Indentation is not sent to browsers (shelf/ui/pages.go), so only htm's templates, which drop it, go over several lines.
const severalLines = {
  selector: 'TemplateElement[value.raw=/\\n/]:not(TaggedTemplateExpression[tag.name="html"] > TemplateLiteral > TemplateElement)',
  message: 'Only html`` may go over several lines: indentation is not sent.',
};

export default [
  { ignores: ['.peers/', '**/vendor/', 'admin/pages/ui/', 'platform/pages/ui/', 'shelf/ui/testdata/ui/', 'output/'] },
  js.configs.recommended,
  {
    files: ['**/*.js', '**/*.mjs'],
    languageOptions: { ecmaVersion: 2024, sourceType: 'module', globals: globals.browser },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      'max-len': ['error', { code: 140, ignoreUrls: true }],
      'no-restricted-syntax': ['error', severalLines],
      'no-unused-vars': ['error', { args: 'after-used', ignoreRestSiblings: true, caughtErrors: 'none' }],
      'no-empty': ['error', { allowEmptyCatch: true }],
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      'no-var': 'error',
      'prefer-const': ['error', { destructuring: 'all' }],
      'no-shadow': ['error', { hoist: 'functions' }],
      'no-use-before-define': ['error', { functions: false, variables: false }],
    },
  },
  { files: ['shelf/apidocs/docs.js'], languageOptions: { sourceType: 'script', globals: { SwaggerUIBundle: 'readonly' } } },
  { files: ['**/pages/tests/**', 'shelf/ui/tests/**', 'eslint.config.js', 'cmd/**/*.mjs'], languageOptions: { globals: globals.node } },
];
