/**
 * Lint for code that runs more than once: durable functions of `idem` and of `inngest`.
 *
 * ```js
 * // eslint.config.js
 * import idem from "eslint-plugin-idem";
 * export default [idem.configs.recommended];
 * ```
 */
import type { ESLint, Linter, Rule } from "eslint";
import { awaitStep } from "./rules/await-step.ts";
import { destinationKey } from "./rules/destination-key.ts";
import { effectInStep } from "./rules/effect-in-step.ts";
import { functionKey } from "./rules/function-key.ts";
import { insertOnConflict } from "./rules/insert-on-conflict.ts";
import { keyReason } from "./rules/key-reason.ts";
import { noAttemptKey } from "./rules/no-attempt-key.ts";
import { noCheckThenAct } from "./rules/no-check-then-act.ts";
import { noIncrement } from "./rules/no-increment.ts";
import { noNestedStep } from "./rules/no-nested-step.ts";
import { noOuterWrite } from "./rules/no-outer-write.ts";
import { noRandomKey } from "./rules/no-random-key.ts";
import { noSwallowedCrash } from "./rules/no-swallowed-crash.ts";
import { oneEffectPerStep } from "./rules/one-effect-per-step.ts";
import { sendWithId } from "./rules/send-with-id.ts";
import { stableStepId } from "./rules/stable-step-id.ts";
import { uniqueStepId } from "./rules/unique-step-id.ts";
import { verifyBeforeClaim } from "./rules/verify-before-claim.ts";

const rules: Record<string, Rule.RuleModule> = {
  "await-step": awaitStep,
  "destination-key": destinationKey,
  "effect-in-step": effectInStep,
  "function-key": functionKey,
  "insert-on-conflict": insertOnConflict,
  "key-reason": keyReason,
  "no-attempt-key": noAttemptKey,
  "no-check-then-act": noCheckThenAct,
  "no-increment": noIncrement,
  "no-nested-step": noNestedStep,
  "no-outer-write": noOuterWrite,
  "no-random-key": noRandomKey,
  "no-swallowed-crash": noSwallowedCrash,
  "one-effect-per-step": oneEffectPerStep,
  "send-with-id": sendWithId,
  "stable-step-id": stableStepId,
  "unique-step-id": uniqueStepId,
  "verify-before-claim": verifyBeforeClaim,
};

const onlyStrict = new Set(["key-reason", "unique-step-id"]);
const named = Object.keys(rules);

const recommended: Linter.RulesRecord = Object.fromEntries(
  named.filter((name) => !onlyStrict.has(name)).map((name) => [`idem/${name}`, "error"]),
);
const strict: Linter.RulesRecord = {
  ...Object.fromEntries(named.map((name) => [`idem/${name}`, "error"])),
  "idem/destination-key": ["error", { calls: "all" }],
};

const configs: Record<"recommended" | "strict", Linter.Config> = {
  recommended: { name: "idem/recommended", rules: recommended },
  strict: { name: "idem/strict", rules: strict },
};
const plugin: ESLint.Plugin & { readonly configs: typeof configs } = {
  meta: { name: "eslint-plugin-idem", version: "0.1.0", namespace: "idem" },
  rules,
  configs,
};
for (const config of Object.values(configs)) config.plugins = { idem: plugin };

export default plugin;
