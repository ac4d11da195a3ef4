// An eslint rule for the core: a switch over kinds of containers names every kind, so that a new kind cannot be forgotten, or its
// default serves every kind. In the first case, kinds that the switch never meets stand beside its default, which traps.

import { readFileSync } from "node:fs";

const declared = /export const enum Kind \{([^}]*)\}/.exec(readFileSync("assembly/container/kind.ts", "utf8"));
if (!declared) throw new Error("eslint-kinds: assembly/container/kind.ts exports no enum Kind");
const kinds = declared[1].split(",").map((member) => member.split("=")[0].trim());

/** Functions that take a container of any kind: expand.ts, read/container.ts. */
const general = /\b(expandedLeft|expandedRight|wordOf|writeWords)\(/;

/** The kind that a case names, if it names one. */
function kindOf({ test }) {
  return test?.type === "MemberExpression" && test.object.name === "Kind" ? test.property.name : undefined;
}

export default {
  rules: {
    exhaustive: {
      meta: { type: "problem", schema: [], messages: { missing: "This switch over kinds leaves out {{ kinds }}" } },
      create: (context) => ({
        SwitchStatement(node) {
          const named = new Set(node.cases.map(kindOf)), last = node.cases.find(({ test }) => test === null);
          if (last && general.test(context.sourceCode.getText(last))) return;
          const missing = kinds.filter((kind) => !named.has(kind));
          if (missing.length < kinds.length && missing.length > 0) {
            context.report({ node, messageId: "missing", data: { kinds: missing.join(", ") } });
          }
        },
      }),
    },
  },
};
