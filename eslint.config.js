// What the linter asks of all TypeScript here: one layout, and few rules, each against a mistake that has been made.
// Layout is checked by rules and not by a formatter that prints code anew, because none of those reads AssemblyScript.

import stylistic from "@stylistic/eslint-plugin";
import ts from "typescript-eslint";

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

/** For all TypeScript, AssemblyScript included. */
const everywhere = {
  "no-sequences": "error",
  "prefer-const": ["error", { destructuring: "all" }],
  "@typescript-eslint/no-shadow": "error",
  "@typescript-eslint/no-unused-vars": "error",
};

/** For what Node.js runs: these need types that AssemblyScript's files do not have. */
const onNode = {
  "@typescript-eslint/await-thenable": "error",
  "@typescript-eslint/consistent-type-imports": ["error", { fixStyle: "inline-type-imports" }],
  "@typescript-eslint/no-floating-promises": "error",
  "@typescript-eslint/no-misused-promises": "error",
  "@typescript-eslint/no-unnecessary-type-assertion": "error",
  eqeqeq: "error",
};

const core = ["assembly/**/*.ts", "bench/kernels/*.ts"];

export default ts.config(
  { ignores: ["build/", "node_modules/"] },
  { files: ["**/*.ts", "**/*.js"], plugins: { "@stylistic": stylistic, "@typescript-eslint": ts.plugin }, rules: { ...layout, ...everywhere } },
  { files: core, languageOptions: { parser: ts.parser, parserOptions: { allowInvalidAST: true } } },      // decorators of constants
  { files: ["**/*.ts"], ignores: core, languageOptions: { parser: ts.parser, parserOptions: { projectService: true } }, rules: onNode },
  // `<usize>this.count`: the rule for keywords asks for a blank before `this`.
  { files: ["assembly/__tests__/**"], rules: { "@stylistic/keyword-spacing": "off" } },
);
