// Syntax that a rule does not expect is no reason to break: a linter that throws is switched off.
import type { Linter } from "eslint";
import { expect, test } from "vitest";
import { lint } from "./cases.suite.ts";
import plugin from "./index.ts";

const rules = plugin.configs.strict.rules as Linter.RulesRecord;

test.each(
  Object.entries({
    "imports of every kind": `import stripe = require("stripe"); import type { A } from "a"; import * as all from "b"; import { "c d" as e } from "f"; export * from "g"; import h = all.i;
      stripe.charges.create({}); h.send(); e(all.x()); step.run("a", () => stripe.charges.create({}));`,
    "classes, fields, decorators and this": `class Shop<T> { constructor(private readonly stripe: Stripe, @Inject() readonly db: Db) {} #x = 1; static { step.run("a", () => this); }
      run = step.run("b", async () => { await this.stripe.invoices.create({}); this.#x++; return super.toString(); }); }`,
    "patterns with holes, defaults and rests": `const [, a = Date.now(), ...rest] = x; const { b: { c = a, ...d } = {}, [\`e\${a}\`]: f } = rest;
      inngest.createFunction({ id: "a", ["idempotency"]: c, ...d }, [, { event: f }], async ({ step, ...others }, ...more) => { await step.run(\`\${c}\${d}\`, ...more); await others.step.run(...more); });`,
    "calls of calls, tags of tags and chains": `step?.run?.("a", async () => (await (await fetch)?.(url))?.json?.()); a()()()\`x\`; new (class {})(); new.target; import.meta.url; sql\`insert into \${sql\`a\`} values (1)\`;`,
    "helpers that call each other": `const a = () => b(); const b = () => a(); function c(x = c) { return x(c); } step.run(a(), b, c); inngest.createFunction({ id: c() }, c, a);`,
    "variables made of themselves": `let a = a + 1; var b = c, c = b; for (const d of d) step.run(d, () => d); step.run(b, () => fetch(c, { method: b, headers: c }));`,
    "enums, namespaces, overloads and assertions": `enum A { B = Date.now() } namespace C { export const d = step.run("a", () => <any>A.B!); } declare function e(x: string): void; function e(x: any) { return x satisfies string; }
      abstract class F { abstract g(): void } export = C;`,
    "labels, switches, generators and loops without bodies": `outer: for (;;) { switch (await step.run("a", function* () { yield* x; })) { case 1: continue outer; default: break outer; } } do ; while (await step.sleep("b", 1)); if (x) ; else step.run("c");`,
  }),
)("%s are read without a fault", (_title, code) => {
  expect(lint(code, rules, { isTyped: true, path: "code.ts" }).filter(({ fatal }) => fatal)).toEqual([]);
});
