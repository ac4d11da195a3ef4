// The layout of all TypeScript and AssemblyScript, and a few rules, each against a mistake that was made here. `make format` applies
// the layout and `make check` enforces it. No formatter that reprints code can read AssemblyScript, so rules define the layout.

import stylistic from "@stylistic/eslint-plugin";
import ts from "typescript-eslint";
import kinds from "./tools/eslint-kinds.js";

const layout = {
  ...stylistic.configs.customize({ indent: 2, quotes: "double", semi: true, braceStyle: "1tbs", arrowParens: true }).rules,
  "@stylistic/generator-star-spacing": ["error", { before: false, after: true, method: { before: true, after: false } }],
  "@stylistic/indent": ["error", 2, { flatTernaryExpressions: true, offsetTernaryExpressions: false, SwitchCase: 1 }],
  "@stylistic/lines-between-class-members": ["error", "always", { exceptAfterSingleLine: true }],
  "@stylistic/max-len": ["error", { code: 140, ignoreStrings: true, ignoreTemplateLiterals: true, ignoreRegExpLiterals: true }],
  "@stylistic/max-statements-per-line": "off",
  "@stylistic/multiline-ternary": "off",
  "@stylistic/no-multi-spaces": ["error", { ignoreEOLComments: true }],
  "@stylistic/operator-linebreak": ["error", "before", { overrides: { "=": "after" } }],
  "@stylistic/quote-props": ["error", "as-needed"],
  "@stylistic/quotes": ["error", "double", { avoidEscape: true, allowTemplateLiterals: "always" }],
};

/** Rules for all TypeScript, including AssemblyScript. */
const everywhere = {
  "no-sequences": "error",
  "prefer-const": ["error", { destructuring: "all" }],
  "@typescript-eslint/no-shadow": "error",
  "@typescript-eslint/no-unused-vars": "error",
};

/** Rules for what Node.js runs. Most need type information, which AssemblyScript files do not have. */
const onNode = {
  "@typescript-eslint/await-thenable": "error",
  "@typescript-eslint/consistent-type-imports": ["error", { fixStyle: "inline-type-imports" }],
  "@typescript-eslint/no-floating-promises": "error",
  "@typescript-eslint/no-misused-promises": "error",
  "@typescript-eslint/no-unnecessary-type-assertion": "error",
  eqeqeq: "error",
};

const core = ["assembly/**/*.ts", "bench/kernels/*.ts", "cli/wasm/*.ts"];
const LENGTH = { code: 112, ignoreStrings: true, ignoreTemplateLiterals: true, ignoreRegExpLiterals: true };

export default ts.config(
  { ignores: ["build/", "node_modules/", "client/dist/", "cli/dist/", "site/pages/", "site/.vitepress/", "site/test.ts"] },
  { files: ["**/*.ts", "**/*.js"], plugins: { "@stylistic": stylistic, "@typescript-eslint": ts.plugin }, rules: { ...layout, ...everywhere } },
  { files: core, languageOptions: { parser: ts.parser, parserOptions: { allowInvalidAST: true } } },      // for decorators on constants
  { files: ["**/*.ts"], ignores: core, languageOptions: { parser: ts.parser, parserOptions: { projectService: true } }, rules: onNode },
  { files: core, plugins: { kinds }, rules: { "kinds/exhaustive": "error", "@stylistic/max-len": ["error", LENGTH] } },
  // The rule would ask for a space before `this` in `<usize>this.count`.
  { files: ["assembly/__tests__/**"], rules: { "@stylistic/keyword-spacing": "off" } },
);
