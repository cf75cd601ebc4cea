import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import parser from "@typescript-eslint/parser";
import { Linter } from "eslint";
import { afterAll, expect, test } from "vitest";
import { lint } from "./cases.suite.ts";
import plugin from "./index.ts";

// A project of its own, whose packages are as small as their types can be.
const project = mkdtempSync(join(tmpdir(), "idem-lint-"));
afterAll(() => rmSync(project, { recursive: true }));

function write(path: string, text: string): string {
  const file = join(project, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

write(
  "tsconfig.json",
  JSON.stringify({
    compilerOptions: { strict: true, module: "nodenext", types: [], lib: ["es2015"] },
    include: ["src"],
  }),
);
write("node_modules/stripe/package.json", JSON.stringify({ name: "stripe", version: "1.0.0", types: "index.d.ts" }));
write(
  "node_modules/stripe/index.d.ts",
  `export default class Stripe { invoices: InvoicesResource; }
   declare class InvoicesResource { create(params: object, options?: { idempotencyKey: string }): Promise<{ id: string }>; }`,
);
write(
  "node_modules/@prisma/client/package.json",
  JSON.stringify({ name: "@prisma/client", version: "1.0.0", types: "index.d.ts" }),
);
write(
  "node_modules/@prisma/client/index.d.ts",
  "export class PrismaClient { user: { create(given: object): Promise<object> }; }",
);
write(
  "src/parts.ts",
  `import type Stripe from "stripe"; import type { PrismaClient } from "@prisma/client";
   export interface Parts { readonly billing: Stripe; readonly rows: PrismaClient }
   export declare class Bus { createFunction(options: object, trigger: object, handler: (context: any) => unknown): object; send(event: object): Promise<void>; }
   export interface Tools { run<T>(id: string, body: () => T): Promise<T>; sleep(id: string, time: string): Promise<void>; sendEvent(id: string, event: object): Promise<void>; waitForEvent(id: string, options: object): Promise<object> }`,
);
const code = `import type { Bus, Parts, Tools } from "./parts.ts";
  export function functions(bus: Bus, parts: Parts) {
    bus.createFunction({ id: "a", idempotency: "event.data.id" }, { event: "b/c" }, async ({ event, step }) => {
      await step.run("draft", () => parts.billing.invoices.create({ customer: "c" }));
      await step.run("row", () => parts.rows.user.create({ data: {} }));
    });
    return bus.send({ name: "a/b", data: {} });
  }
  export async function helper(durable: Tools) { durable.run("a", () => 1); }`;
const path = write("src/code.ts", code);

test("what names do not tell, types do: clients, SDKs, databases and tools under names of their own", () => {
  const config: Linter.Config = {
    files: ["**/*.ts"],
    ...plugin.configs.recommended,
    languageOptions: {
      parser: parser as Linter.Parser,
      parserOptions: { projectService: true, tsconfigRootDir: project },
    },
  };
  const found = new Linter({ cwd: project }).verify(code, [config], { filename: path });
  expect(found.map(({ ruleId, line, message }) => ruleId ?? `${line} ${message}`)).toEqual([
    "idem/destination-key",
    "idem/insert-on-conflict",
    "idem/send-with-id",
    "idem/await-step",
  ]);
});

test("without types only what the code itself shows is told: that createFunction is called on what sends", () => {
  const rules = plugin.configs.recommended.rules as Linter.RulesRecord;
  expect(lint(code, rules, { isTyped: true }).map(({ ruleId }) => ruleId)).toEqual(["idem/send-with-id"]);
});
