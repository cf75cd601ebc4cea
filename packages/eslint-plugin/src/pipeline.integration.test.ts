// A project made by `npm init` and `idem init`: its pipeline, run with the real linters and the real verifier, on the first function of the articles Idem comes
// from, as it is printed there and mended as they say. Everything is linked, nothing is installed.
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { ESLint } from "eslint";
import { afterAll, expect, test } from "vitest";
import plugin from "./index.ts";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "..");
const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true });
});

const clients = `import { Idem } from "idem";
export const inngest = new Idem({ id: "shop" });

const ask = async (method, url, body, key) => {
  const headers = key === undefined ? {} : { "Idempotency-Key": key };
  const answer = await fetch(url, { method, headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(\`\${url} answered \${answer.status}\`);
  return answer.json();
};
const toStripe = (path) => ({
  create: (body, options) => ask("POST", \`https://api.stripe.com/v1/\${path}\`, body, options?.idempotencyKey),
});
export const stripe = { charges: toStripe("charges"), paymentIntents: toStripe("payment_intents") };
const payments = "https://payments.example/payments";
export const db = {
  payments: {
    create: (row) => ask("POST", payments, row),
    upsert: ({ chargeId }, row) => ask("PUT", \`\${payments}/\${chargeId}\`, row),
  },
};
`;

const asPrinted = `import { db, inngest, stripe } from "./clients.mjs";

export const processPayment = inngest.createFunction(
  { id: "process-payment", retries: 3 },
  { event: "payment/requested" },
  async ({ event, step }) => {
    const charge = await step.run("charge-card", async () => {
      return await stripe.charges.create({
        amount: event.data.amountCents,
        currency: "usd",
        source: event.data.paymentToken,
      });
    });
    await step.run("record-charge", async () => {
      await db.payments.create({
        userId: event.data.userId,
        chargeId: charge.id,
        amount: event.data.amountCents,
      });
    });
  },
);
`;

const mended = `import { db, inngest, stripe } from "./clients.mjs";

export const processPayment = inngest.createFunction(
  { id: "process-payment", retries: 3, idempotency: "event.data.paymentId" },
  { event: "payment/requested" },
  async ({ event, step }) => {
    const charge = await step.run("charge-card", async () => {
      return await stripe.paymentIntents.create(
        { amount: event.data.amountCents, currency: "usd", source: event.data.paymentToken },
        { idempotencyKey: \`payment-intent-\${event.data.paymentId}\` },
      );
    });
    await step.run("record-charge", async () => {
      await db.payments.upsert(
        { chargeId: charge.id },
        { userId: event.data.userId, amount: event.data.amountCents },
      );
    });
  },
);
`;

/** The person's part: an event as they would send it. */
const event = `{ "process-payment": { event: { name: "payment/requested", data: { paymentId: "p-7", userId: "u-1", amountCents: 900, paymentToken: "tok" } } } }`;

interface Ran {
  readonly code: number | null;
  readonly out: string;
}

function repository(code: string, files: Readonly<Record<string, string>>, ...args: string[]) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "idem-pipeline-")));
  folders.push(folder);
  const run = (command: string, ...words: string[]): Ran => {
    const { status, stdout, stderr } = spawnSync(command, words, { cwd: folder, encoding: "utf8" });
    return { code: status, out: stdout + stderr };
  };
  // As npm init -y leaves it.
  const manifest = { name: "shop", version: "1.0.0", main: "index.js", scripts: { test: "exit 1" }, license: "ISC" };
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  mkdirSync(join(folder, "src"));
  writeFileSync(join(folder, "src", "clients.mjs"), clients);
  writeFileSync(join(folder, "src", "functions.mjs"), code);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const initialised = run(process.execPath, join(root, "packages/idem/bin/idem.mjs"), "init", ...args);
  const configuration = join(folder, "idem.verify.mjs");
  writeFileSync(configuration, readFileSync(configuration, "utf8").replace("functions: {}", `functions: ${event}`));
  link(folder);
  return { folder, initialised, script: (...words: string[]) => started(folder, words) };
}

/** Links what `npm install` would bring. */
function link(folder: string): void {
  const own = join(folder, "node_modules");
  const places: Record<string, string> = { oxlint: join(root, "packages/eslint-plugin/node_modules/oxlint") };
  for (const name of ["eslint", "eslint-plugin-idem", "idem", "@mswjs/interceptors", "oxlint"]) {
    mkdirSync(dirname(join(own, name)), { recursive: true });
    symlinkSync(realpathSync(places[name] ?? join(root, "node_modules", name)), join(own, name));
  }
  mkdirSync(join(own, ".bin"));
  const bins = { eslint: "bin/eslint.js", oxlint: "bin/oxlint", idem: "bin/idem.mjs" };
  for (const [name, path] of Object.entries(bins)) symlinkSync(join(own, name, path), join(own, ".bin", name));
}

/** A step of the workflow: the script as npm runs it, beside others. */
const started = (folder: string, words: readonly string[]): Promise<Ran> =>
  new Promise((resolve) => {
    const child = spawn("npm", ["run", "--silent", ...words], { cwd: folder });
    let out = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (out += text));
    child.on("close", (code) => resolve({ code, out }));
  });

test.each(["eslint", "oxlint"])(
  "a repository of npm init and idem init fails on the articles' first function and passes on the mended one, with %s",
  async (linter) => {
    const wrong = repository(asPrinted, {}, "--linter", linter);
    const right = repository(mended, {}, "--linter", linter);
    expect(wrong.initialised).toMatchObject({ code: 0, out: expect.stringContaining("modules: src/functions.mjs") });
    const isVerified = linter === "eslint";
    const report = ["verify", "--", "--budget", "0", "--reporter", "sarif", "--output", "idem.sarif"];
    const [lintWrong, lintRight, verifyWrong, verifyRight] = await Promise.all([
      wrong.script("lint"),
      right.script("lint"),
      // The verifier does not know which linter there is: once is enough.
      // One schedule fails it; to look for mends is most of what all of them take.
      isVerified ? wrong.script(...report, "--schedule", "die-after-effect:1") : null,
      isVerified ? right.script(...report) : null,
    ]);
    expect(lintWrong).toMatchObject({ code: 1, out: expect.stringMatching(/function-key/) });
    expect(lintWrong.out).toMatch(/destination-key/);
    expect(lintRight).toMatchObject({ code: 0 });
    if (verifyWrong === null || verifyRight === null) return;
    expect(verifyWrong).toMatchObject({ code: 1, out: expect.stringMatching(/✗ DOUBLED +two of api\.stripe\.com/) });
    expect(verifyRight).toMatchObject({ code: 0, out: expect.stringMatching(/✓ HELD/) });
    const results = (folder: string): { ruleId: string; locations: any[] }[] =>
      JSON.parse(readFileSync(join(folder, "idem.sarif"), "utf8")).runs[0].results;
    expect(results(right.folder)).toEqual([]);
    expect(results(wrong.folder)[0]).toMatchObject({
      ruleId: "DOUBLED",
      locations: [{ physicalLocation: { artifactLocation: { uri: expect.stringMatching(/^src\//) } } }],
    });
  },
  120_000,
);

test.each([
  ["eslint.config.js", '"use strict";\nconst rules = {};\nmodule.exports = [\n  { rules },\n];\n'],
  [
    "eslint.config.mjs",
    'import { defineConfig } from "eslint/config";\nexport default defineConfig(\n  { rules: {} },\n);\n',
  ],
  ["eslint.config.cjs", "const config = [{ rules: {} }];\nmodule.exports = config;\n"],
])("ESLint loads %s as idem init has edited it, with the rules on", async (name, text) => {
  const { folder, initialised } = repository(mended, { [name]: text });
  expect(initialised.out).toContain(`${name}  changed`);
  const config = await new ESLint({ cwd: folder }).calculateConfigForFile(join(folder, "src/functions.mjs"));
  expect(config.rules).toHaveProperty(["idem/function-key"]);
});

test("the rules that idem init writes for oxlint are those of the recommended preset", () => {
  const { folder } = repository(mended, {}, "--linter", "oxlint");
  const { rules } = JSON.parse(readFileSync(join(folder, ".oxlintrc.json"), "utf8"));
  expect(rules).toEqual(plugin.configs.recommended.rules);
});
