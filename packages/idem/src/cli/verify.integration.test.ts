// The command, on small projects in TypeScript (fixtures/verifying), each in a folder of its own. Worlds are played in threads that run from dist.
import { execFileSync, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { serve } from "../node.ts";
import { nodePlatform } from "../platform/node-platform.ts";
import { Idem } from "../sdk/client.ts";
import { reportShape } from "../verify/report-shape.suite.ts";
import { sarifShape } from "../verify/sarif-shape.suite.ts";
import { fakeTerminal } from "./fake-terminal.ts";
import { KeptThreads } from "./kept-threads.suite.ts";
import { silent } from "./open-reading.ts";
import { temporaryFolder } from "./store-world.ts";

// Two of them start processes of their own: on a busy machine that takes its time.
vi.setConfig({ testTimeout: 300_000 });

const threads = new KeptThreads(nodePlatform);
afterAll(() => threads.close());

const idem = join(dirname(fileURLToPath(import.meta.url)), "..", "..");

function project(files: Readonly<Record<string, unknown>> = {}) {
  const folder = temporaryFolder();
  cpSync(join(idem, "fixtures", "verifying"), folder, { recursive: true });
  symlinkSync(join(idem, "..", "..", "node_modules"), join(folder, "node_modules"));
  for (const [name, content] of Object.entries(files)) {
    writeFileSync(join(folder, name), typeof content === "string" ? content : JSON.stringify(content));
  }
  const platform = { ...nodePlatform, startThread: threads.startThread };
  const terminal = fakeTerminal({ cwd: folder, platform });
  return { folder, terminal, verify: (...args: string[]) => terminal.run("verify", ...args, "--budget", "0") };
}

const memoryIn = (folder: string): any => JSON.parse(readFileSync(join(folder, "idem.verify.json"), "utf8"));

describe("idem verify", () => {
  test("shows what doubled, where it stands in the user's TypeScript and how to see it again, and remembers it", async () => {
    const { folder, terminal, verify } = project();
    expect(await verify("src/functions.ts", "--event", "placement.json")).toBe(1);
    const { out } = terminal.written;
    expect(out).toMatch(/^draft-invoice +event crm\/placement\.made \(from placement\.json\)$/m);
    expect(out).toMatch(/✗ DOUBLED +two of api\.stripe\.com/);
    expect(out).toMatch(/09:00:00\.\d{3} {2}event crm\/placement\.made arrived/);
    expect(out).toContain("src/functions.ts:11");
    expect(out).toContain('> 11 |       const answer = await fetch("https://api.stripe.com/v1/invoices", {');
    expect(out).toMatch(/^1 doubled +\d+ schedules/m);
    const readme = readFileSync(join(idem, "..", "..", "README.md"), "utf8");
    const [, screen] = /```\n(draft-invoice[\s\S]*?)```/.exec(readme)!;
    for (const line of screen!.trimEnd().split("\n")) expect(out.split("\n")).toContain(line);
    // Only what the event reaches.
    expect(out).not.toContain("send-receipt");
    const [, repeat] = /repeat: idem (.*)$/m.exec(out)!;
    const [, schedule] = /--schedule (\S+)/.exec(repeat!)!;
    expect(memoryIn(folder)).toEqual({ failing: { "draft-invoice": [schedule] }, accepted: [] });

    expect(existsSync(join(folder, "billing.db"))).toBe(false);
  });

  test("a finding's JSON has the shape that docs/verify.md shows; its test fails before the edits of its mend and passes after", async () => {
    const { folder, terminal, verify } = project();
    const args = ["src/functions.ts", "--event", "placement.json", "--schedule", "die-after-effect:1"];
    expect(await verify(...args)).toBe(1);
    const [, pasted] = /as a test:\n((?: {6}.*\n|\n)+)/.exec(terminal.written.out)!;
    writeFileSync(join(folder, "finding.test.mjs"), pasted!);

    expect(await verify(...args, "--reporter", "json")).toBe(1);
    // The program's output is no part of the answer.
    const report = reportShape.parse(JSON.parse(terminal.written.out));
    const [verified] = report.functions;
    expect(verified).toMatchObject({
      id: "draft-invoice",
      verdict: "DOUBLED",
      effects: 1,
      event: { name: "crm/placement.made", from: "from placement.json" },
      findings: [
        {
          place: { file: "src/functions.ts", line: 11 },
          schedule: "die-after-effect:1",
          repeat: `idem verify ${args.slice(0, 1).join(" ")} --function draft-invoice ${args.slice(1).join(" ")} --seed 1`,
        },
      ],
    });
    expect(report.summary).toMatchObject({ verdicts: { DOUBLED: 1 }, problems: [] });
    const { edits } = verified!.findings[0]!.mend!;
    expect(edits).toMatchObject([
      { file: "src/functions.ts", line: 10, after: expect.stringContaining("async ({ key }) => {") },
      { line: 12, after: expect.stringContaining('"Idempotency-Key": key') },
    ]);

    const runPasted = () =>
      spawnSync(process.execPath, ["--test", "finding.test.mjs"], { cwd: folder, encoding: "utf8" });
    const before = runPasted();
    expect([before.status, before.stdout]).toEqual([1, expect.stringContaining("✗ DOUBLED")]);
    const file = join(folder, "src/functions.ts");
    const lines = readFileSync(file, "utf8").split("\n");
    for (const { line, after } of edits) lines[line - 1] = after;
    writeFileSync(file, lines.join("\n"));
    const after = runPasted();
    expect([after.status, after.stdout]).toEqual([0, expect.stringContaining("✓ HELD")]);
  });

  test("docs/verify.md shows a report of that shape", () => {
    const page = readFileSync(join(idem, "..", "..", "docs", "verify.md"), "utf8");
    const blocks = [...page.matchAll(/```json\n([\s\S]*?)```/g)].map(([, text]) => JSON.parse(text!));
    const [shown, ...others] = blocks.filter((block) => "functions" in block);
    expect(reportShape.parse(shown).functions[0]!.findings).toHaveLength(1);
    expect(others).toEqual([]);
  });

  test("what a person accepted is no failure, until its day is over", async () => {
    const accepted = (until: string) =>
      JSON.stringify({ accepted: [{ effect: "POST api.stripe.com/*", because: "they merge by hand", until }] });
    const args = ["src/functions.ts", "--event", "placement.json", "--schedule", "die-after-effect:1"];
    const { folder, terminal, verify } = project({ "idem.verify.json": accepted("2999-01-01") });
    expect(await verify(...args)).toBe(0);
    expect(terminal.written.out).toMatch(/~ ACCEPTED .*\n +accepted: they merge by hand \(until 2999-01-01\)/);
    writeFileSync(join(folder, "idem.verify.json"), accepted("2020-01-01"));
    expect(await verify(...args)).toBe(1);
    expect(terminal.written.out).toContain("was accepted until 2020-01-01");
    expect(terminal.written.out).toMatch(/✗ DOUBLED/);
  });

  test("a function nobody has an event for is unproven; its schema's example, or one made up from it, will do", async () => {
    const { terminal, verify } = project();
    const one = ["--schedule", "die-after-effect:1"];
    expect(await verify("src/with-schema.ts", ...one)).toBe(2);
    expect(terminal.written.out).toMatch(/record\n {2}\? UNPROVEN +no example event/);
    expect(terminal.written.out).toMatch(/tell +event shop\/order\.sent \(its schema's example\)\n {2}✓ HELD/);
    expect(await verify("src/with-schema.ts", "--generate", "--function", "record", ...one)).toBe(0);
    expect(terminal.written.out).toMatch(/record +event shop\/order\.paid \(made up from its schema\)\n {2}✓ HELD/);
  });

  test("the newest real event is read from the store, which stays as it is, and its values are not shown", async () => {
    const { folder, terminal, verify } = project();
    const address = `sqlite:${join(folder, "billing.db")}`;
    const client = new Idem({ id: "billing", store: address, logger: silent });
    client.createFunction({ id: "draft-invoice" }, { event: "crm/placement.made" }, () => "done");
    await client.start();
    await client.send({ name: "crm/placement.made", data: { placementId: "old", clientId: "secret-client" } });
    await client.send({ name: "crm/placement.made", data: { placementId: "newest", clientId: "secret-client" } });
    await client.idle();
    await client.stop();
    const before = readFileSync(join(folder, "billing.db"));
    expect(await verify("src/functions.ts", "--from-store", address, "--function", "draft-invoice")).toBe(1);
    expect(terminal.written.out).toMatch(/event crm\/placement\.made \(from the store, run \w+\)/);
    expect(terminal.written.out).toContain("✗ DOUBLED");
    expect(terminal.written.out).not.toMatch(/newest|secret-client/);
    expect(readFileSync(join(folder, "billing.db")).equals(before)).toBe(true);
  });

  test("idem.verify.ts loads a container, gives placeholders, answers and events; what it accepts in vain fails", async () => {
    const configuration = `import { openContainer } from "./src/container.js";
      const rate: number = 1.25;
      export default {
        load: openContainer,
        env: { STRIPE_KEY: "sk_test_placeholder" },
        fixtures: [{ method: "GET", host: "rates.example", path: "/v1/eur", body: { rate } }],
        functions: { "look-up": { event: { name: "shop/order.paid", data: { orderId: "o-1" } }, entity: "orderId" } },
        accept: [{ effect: "POST metrics.local/*", because: "telemetry", until: "2999-01-01" }],
      };`;
    const { terminal, verify } = project({ "idem.verify.ts": configuration });
    expect(await verify()).toBe(1);
    expect(terminal.written.out).toMatch(/look-up +event shop\/order\.paid \(from idem\.verify\)\n {2}✓ HELD/);
    expect(terminal.written.out).toContain('"POST metrics.local/*" is accepted and was not found');
  });
});

describe("idem verify --events", () => {
  const story = join(idem, "..", "..", "examples", "double-invoice");
  const body = { id: 1042, clientStripeId: "cus_secret", amountCents: 4_200 };
  const fixtures = [{ method: "GET", host: "rest.bullhorn.example", path: "/placements/*", body }];

  test("an alert's own pair doubles in the function as it was deployed, and holds in the mended one", async () => {
    const { folder, terminal } = project({ "idem.verify.mjs": `export default ${JSON.stringify({ fixtures })};` });
    const address = `sqlite:${join(folder, "agency.db")}`;
    const client = new Idem({ id: "agency", store: address, logger: silent });
    client.createFunction({ id: "draft-invoice" }, { event: "bullhorn/placement.event" }, async () => null);
    await client.start();
    const fire = (eventType: string) =>
      client.send({ name: "bullhorn/placement.event", data: { placementId: 1042, eventType, by: "ann-secret" } });
    const sent = [await fire("INSERTED"), await fire("UPDATED")];
    const alerts = () => terminal.run("radar", "--store", address, "--json");
    await expect.poll(() => alerts().then(() => terminal.written.out)).toContain('"doubled-runs"');
    const [{ id }] = JSON.parse(terminal.written.out);
    await client.stop();
    expect(await terminal.run("radar", id, "--store", address)).toBe(0);
    const [, command] = /→ See it happen, and hold once it is mended: idem (verify .*)$/m.exec(terminal.written.out)!;
    const runs = sent.map(({ decisions }) => decisions[0]!.runId).join(",");
    expect(command).toBe(`verify path/to/module.ts --function draft-invoice --from-store ${address} --events ${runs}`);

    const play = (module: string, ...more: string[]) =>
      terminal.run(
        ...command!.split(" ").map((word) => (word.startsWith("path/") ? join(story, module) : word)),
        ...more,
      );
    expect(await play("as-deployed.mjs")).toBe(1);
    const { out } = terminal.written;
    expect(out).toMatch(/✗ DOUBLED +two of api\.stripe\.com\/v1\/invoices/);
    expect(out).toMatch(/event bullhorn\/placement\.event for the same thing arrived/);
    expect(out).toMatch(/repeat: idem verify .* --events \S+ --schedule pair-at-once --seed 1/);
    expect(out).not.toMatch(/ann-secret/);
    expect(await play("as-mended.mjs", "--json")).toBe(0);
    expect(JSON.parse(terminal.written.out).functions).toMatchObject([{ verdict: "HELD", schedules: 3 }]);
    expect(await play("as-mended.mjs", "--publish", address)).toBe(3);
    expect(terminal.written.err).toContain("--events plays some of them");
  });

  test("two ids that are none, and events that start nothing here, are named before anything is played", async () => {
    const { folder, terminal, verify } = project();
    const address = `sqlite:${join(folder, "billing.db")}`;
    const client = new Idem({ id: "billing", store: address, logger: silent });
    await client.functions.list();
    await client.stop();
    expect(await verify("src/functions.ts", "--events", "one")).toBe(3);
    expect(terminal.written.err).toContain("it is two ids with a comma between them");
    expect(await verify("src/functions.ts", "--from-store", address, "--events", "one,two")).toBe(3);
    expect(terminal.written.err).toContain("The store has no event or run one and two");
  });
});

describe("idem verify --publish", () => {
  test("keeps each verdict with the code it was for: idem functions and the doctor have it, UNPROVEN is none to be glad of", async () => {
    const { folder, terminal, verify } = project();
    const path = join(folder, "billing.db");
    const address = `sqlite:${path}`;
    const client = new Idem({ id: "billing", store: address, logger: silent });
    type Placement = { readonly placementId: string; readonly clientId: string };
    // The code of the fixture, as another tool transpiles it.
    client.createFunction(
      { id: "draft-invoice", idempotency: "event.data.placementId" },
      { event: "crm/placement.made" },
      async ({ event, step }) => {
        const placement: Placement = event.data;
        await step.run("create-invoice", async () => {
          const answer = await fetch("https://api.stripe.com/v1/invoices", {
            method: "POST",
            body: JSON.stringify({ customer: placement.clientId, placement: placement.placementId }),
          });
          if (!answer.ok) throw new Error(`answered ${answer.status}`);
        });
      },
    );
    client.createFunction({ id: "send-receipt" }, { event: "crm/payment.made" }, async () => "other code");
    client.createFunction({ id: "nobody-looked" }, { event: "crm/none" }, async () => null);
    await client.functions.list();
    const lines = async (...args: string[]) => {
      await terminal.run(...args, "--store", address);
      return terminal.written.out;
    };
    const receipt = ["--event", "both.json", "--function", "send-receipt"];
    expect(await verify("src/functions.ts", ...receipt, "--publish", path)).toBe(0);
    expect(terminal.written.err).toContain("1 verdict is published to");
    // While its owner lives, and without it.
    await client.stop();
    expect(await verify("src/functions.ts", "--function", "draft-invoice", "--publish", address)).toBe(2);
    const keys = await lines("functions", "--keys");
    expect(keys).toMatch(/draft-invoice .* UNPROVEN in 0 schedules, [^,\n]*$/m);
    expect(keys).toMatch(/send-receipt .* HELD in \d\d schedules, .*, code changed since$/m);
    expect(keys).toMatch(/nobody-looked .* never verified$/m);
    const doctor = await lines("doctor");
    expect(doctor).toMatch(/1 function was never verified\n +"nobody-looked"/);
    expect(doctor).toMatch(/code of 1 function has changed since it was verified\n +"send-receipt": HELD/);
    expect(doctor).toMatch(/found something in 1 function\n +"draft-invoice": UNPROVEN/);
    expect(doctor).toContain("No problems found");
    const [audited] = JSON.parse(await lines("audit", "--json"));
    expect(audited).toMatchObject({ action: "change-setting", subject: "verdict:billing-draft-invoice" });
  });

  test("a run of one schedule publishes nothing, and says why before anything is played", async () => {
    const { terminal, verify } = project();
    const args = ["src/functions.ts", "--event", "placement.json", "--schedule", "replay", "--publish", "none.db"];
    expect(await verify(...args)).toBe(3);
    expect(terminal.written.err).toContain("--schedule plays some of them: HELD would be said of what was not tried");
  });
});

describe("in a pipeline", () => {
  const args = ["src/functions.ts", "--schedule", "die-after-effect:1"];
  const events = [
    { name: "crm/placement.made", data: { placementId: "7", clientId: "c3" } },
    { name: "crm/payment.made", data: { paymentId: "pi-7" } },
  ];

  test("one run writes SARIF and JUnit beside what people read, by the same id as JSON has it", async () => {
    const { folder, terminal, verify } = project();
    const files = ["--reporter", "sarif", "--output", "out/idem.sarif", "--reporter", "junit", "--output", "idem.xml"];
    expect(await verify(...args, "--event", "placement.json", ...files)).toBe(1);
    expect(terminal.written.out).toContain("✗ DOUBLED");
    const log = sarifShape.parse(JSON.parse(readFileSync(join(folder, "out/idem.sarif"), "utf8")));
    const [result] = log.runs[0]!.results;
    expect(result).toMatchObject({
      ruleId: "DOUBLED",
      locations: [{ physicalLocation: { artifactLocation: { uri: "src/functions.ts" }, region: { startLine: 11 } } }],
    });
    const xml = readFileSync(join(folder, "idem.xml"), "utf8");
    expect(xml).toMatch(/<testcase name="draft-invoice" .* file="src\/functions\.ts" line="5"><failure type="DOUBLED"/);
    expect(await verify(...args, "--event", "placement.json", "--reporter", "json")).toBe(1);
    const { functions } = reportShape.parse(JSON.parse(terminal.written.out));
    expect(functions[0]!.findings[0]!.id).toBe(result!.partialFingerprints["idemFindingId/v1"]);
  });

  test("what the baseline knows does not fail, wherever its line has moved; what is new does, and what is gone is told", async () => {
    const some = [...args, "--event", "placement.json"];
    const first = project();
    expect(await first.verify(...some, "--write-baseline", "known.json")).toBe(0);
    expect(first.terminal.written.err).toContain("known.json has 1 known finding now: commit it.");
    const known = readFileSync(join(first.folder, "known.json"), "utf8");
    const code = readFileSync(join(first.folder, "src/functions.ts"), "utf8");
    // The same program elsewhere: threads that are kept know a module as it was.
    const moved = project({ "known.json": known, "src/functions.ts": `// One line more.\n${code}` });
    expect(await moved.verify(...some, "--baseline", "known.json")).toBe(0);
    expect(moved.terminal.written.out).toMatch(
      /✗ DOUBLED .*\n +known: it stands in the baseline \([0-9a-f]{16}\)[\s\S]*baseline: 1 known, 0 new, 0 gone/,
    );
    const renamed = code.replace('"draft-invoice"', '"draft"');
    const other = project({ "known.json": known, "src/functions.ts": renamed });
    expect(await other.verify(...some, "--baseline", "known.json")).toBe(1);
    expect(other.terminal.written.out).toMatch(
      /✓ gone: billing-draft-invoice: doubled, POST api\.stripe\.com\/v1\/invoices[\s\S]*baseline: 0 known, 1 new, 1 gone/,
    );
  });

  test("only functions of which a file has changed are verified, and the others are counted, with the reason", async () => {
    const other = `import { idem } from "@billing/client.js";
      idem.createFunction({ id: "count", idempotency: "event.data.paymentId" }, { event: "crm/payment.made" }, () => 1);`;
    const { folder, terminal, verify } = project({
      "src/other.ts": other,
      "both.json": events,
      ".gitignore": "node_modules\n",
    });
    const git = (...words: string[]) =>
      execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...words], { cwd: folder });
    git("init", "-q");
    git("add", ".");
    git("commit", "-qm", "first");
    const changed = ["src/functions.ts", "src/other.ts", "--event", "both.json", "--changed"];
    expect(await verify(...changed, "--reporter", "json")).toBe(0);
    expect(reportShape.parse(JSON.parse(terminal.written.out))).toMatchObject({
      functions: [],
      leftOut: [{ id: "draft-invoice" }, { id: "send-receipt" }, { id: "count" }],
    });
    writeFileSync(join(folder, "src/other.ts"), `${other}\n// changed`);
    expect(await verify(...changed, "HEAD", "--schedule", "again-at-once")).toBe(0);
    expect(terminal.written.out).toMatch(/count +event crm\/payment\.made .*\n {2}✓ HELD/);
    expect(terminal.written.out).toMatch(
      /2 functions left out: draft-invoice, send-receipt: none of the 3 files it is made of has changed since HEAD \([0-9a-f]{10}\)/,
    );
    expect(terminal.written.out).toMatch(/1 held · 2 left out/);
    expect(await verify(...changed, "gone", "--schedule", "again-at-once")).toBe(0);
    expect(terminal.written.err).toContain('Everything is verified: git knows no commit "gone"');
    expect(terminal.written.out).toContain("3 held");
  });
});

/** A sandbox of a CRM, and a function that needs its answers. */
async function withSandbox() {
  const asked: string[] = [];
  const sandbox = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    const client = { id: "c3", plan: "gold", api_key: "rk_of_this_client" };
    response.setHeader("content-type", "application/json").end(JSON.stringify(client));
  });
  await once(sandbox.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void sandbox.close());
  const host = `127.0.0.1:${(sandbox.address() as AddressInfo).port}`;
  const code = `import { Idem } from "idem";
    const idem = new Idem({ id: "billing" });
    const options = { id: "draft-invoice", idempotency: "event.data.placementId" };
    idem.createFunction(options, { event: "crm/placement.made" }, async ({ event, step }) => {
      const client = await step.run("look-up", async () => (await fetch("http://${host}/clients/" + event.data.clientId)).json());
      await step.run("create-invoice", async () => {
        const body = JSON.stringify({ plan: client.plan.toUpperCase(), placement: event.data.placementId });
        const answer = await fetch("https://api.stripe.com/v1/invoices", { method: "POST", body });
        if (!answer.ok) throw new Error("answered " + answer.status);
      });
    });`;
  return { asked, host, code };
}

describe("--record", () => {
  const args = ["src/reads.mjs", "--event", "placement.json", "--schedule", "die-after-effect:1"];

  test("an allow-listed sandbox is asked once, its answers are kept without secrets, and later nobody is asked", async () => {
    const { asked, host, code } = await withSandbox();
    const { folder, terminal, verify } = project({ "src/reads.mjs": code });
    const file = join(folder, "idem.verify.recordings.json");
    expect(await verify(...args)).toBe(2);
    expect(terminal.written.out).toMatch(/UNPROVEN +the answer of GET .* is read for `plan`, which nobody gave/);
    expect({ asked, isKept: existsSync(file) }).toEqual({ asked: [], isKept: false });

    expect(await verify(...args, "--record", host, "--record", "api.typo.example")).toBe(1);
    expect(terminal.written.out).toMatch(/✗ DOUBLED +two of api\.stripe\.com/);
    // Neither by another world nor by a mend that is tried.
    expect(asked).toEqual(["GET /clients/client-77"]);
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({
      version: 1,
      answers: [
        {
          method: "GET",
          host,
          path: "/clients/*",
          status: 200,
          body: { id: "c3", plan: "gold", api_key: "‹redacted›" },
        },
      ],
    });
    expect(terminal.written.err).toContain("idem.verify.recordings.json: look through it");
    expect(terminal.written.err).toContain("Nothing was recorded of api.typo.example");

    expect(await verify(...args)).toBe(1);
    expect(terminal.written.out).toMatch(/✗ DOUBLED/);
    expect(asked).toHaveLength(1);
  });

  test("what a fixture answers is not asked of anybody", async () => {
    const { asked, host, code } = await withSandbox();
    const fixture = { method: "GET", host, path: "/clients/*", body: { plan: "silver" } };
    const configuration = `export default ${JSON.stringify({ fixtures: [fixture] })};`;
    const { folder, verify } = project({ "src/reads.mjs": code, "idem.verify.mjs": configuration });
    expect(await verify(...args, "--record", host)).toBe(1);
    expect(asked).toEqual([]);
    expect(existsSync(join(folder, "idem.verify.recordings.json"))).toBe(false);
  });
});

describe("idem verify -u", () => {
  test("of an app that was not started here each function is unproven, and the way to start it is told", async () => {
    const client = new Idem({ id: "shop", server: "http://127.0.0.1:9", logger: silent });
    client.createFunction({ id: "charge" }, { event: "crm/placement.made" }, async () => {});
    const app = createServer(serve(client, { dev: true })).listen(0, "127.0.0.1");
    onTestFinished(() => void app.close());
    await once(app, "listening");
    const { terminal, verify } = project();
    const url = `http://127.0.0.1:${(app.address() as AddressInfo).port}/api/idem`;
    expect(await verify("-u", url, "--event", "placement.json")).toBe(2);
    expect(terminal.written.out).toMatch(/^charge/m);
    expect(terminal.written.out.replace(/\s+/g, " ")).toMatch(
      /UNPROVEN .*nobody sees what it sends; .*--start "npm run dev"/,
    );
  });
});

describe("what cannot be verified ends with 3 and says why", () => {
  test.each<[string, readonly string[], Readonly<Record<string, unknown>>, RegExp]>([
    ["no module", [], {}, /Which modules\?/],
    ["a file that is not there", ["src/absent.ts"], {}, /src\/absent\.ts cannot be loaded: there is no such file/],
    ["a folder", ["src"], {}, /it is not a file/],
    [
      "a module that throws",
      ["src/throws.ts"],
      {},
      /src\/throws\.ts cannot be loaded: no key was given \(src\/throws\.ts:5\)/,
    ],
    [
      "a module that throws beside one that does not",
      ["src/functions.ts", "src/throws.ts"],
      {},
      /idem: src\/throws\.ts cannot be loaded/,
    ],
    ["a module without a client", ["src/nothing.ts"], {}, /src\/nothing\.ts constructed no Idem/],
    [
      "two clients of one name",
      ["src/functions.ts", "again.mjs"],
      {
        "again.mjs": `import { Idem } from "idem";
          new Idem({ id: "billing" }).createFunction({ id: "another" }, { event: "x/y" }, () => {});`,
      },
      /constructed two clients with the id "billing"/,
    ],
    ["an unknown function", ["src/functions.ts", "--function", "draft-invoce"], {}, /Did you mean "draft-invoice"\?/],
    ["an unknown schedule", ["src/functions.ts", "--schedule", "die-nicely"], {}, /There is no schedule "die-nicely"/],
    [
      "an app and a module",
      ["src/functions.ts", "-u", "http://localhost:3000/api/inngest", "--start", "npm run dev"],
      {},
      /"src\/functions\.ts" is a module, and -u verifies an app/,
    ],
    [
      "an app on another machine",
      ["-u", "https://shop.example/api/inngest", "--start", "npm run dev"],
      {},
      /it is an address such as http:\/\/localhost:3000/,
    ],
    [
      "what starts an app, and not where it is",
      ["src/functions.ts", "--start", "npm run dev"],
      {},
      /and -u where it is/,
    ],
    [
      "an app in processes",
      ["-u", "http://localhost:3000/api/inngest", "--process"],
      {},
      /an app \(-u\) is always verified in processes of its own/,
    ],
    [
      "an app that nobody started",
      ["-u", "http://localhost:9/api/inngest"],
      {},
      /Nothing answers at http:\/\/localhost:9/,
    ],
    [
      "an app that does not start",
      ["-u", "http://localhost:3000/api/inngest", "--start", "echo no database; exit 3"],
      {},
      /\| no database[\s\S]*The app does not start: it ended with exit code 3/,
    ],
    ["an unknown option", ["src/functions.ts", "--functions", "x"], {}, /Did you mean --function\?/],
    ["an unknown reporter", ["src/functions.ts", "--reporter", "xml"], {}, /--reporter is "xml"/],
    [
      "two reports on one screen",
      ["src/functions.ts", "--reporter", "sarif", "--reporter", "junit"],
      {},
      /sarif and junit do not fit on one screen/,
    ],
    ["a file for no report", ["src/functions.ts", "--output", "a.xml"], {}, /There are 0 --reporter and 1 --output/],
    [
      "a baseline that is not there",
      ["src/functions.ts", "--baseline", "known.json"],
      {},
      /no known\.json yet: write it with --write-baseline known\.json/,
    ],
    [
      "a baseline that is none",
      ["src/functions.ts", "--baseline", "known.json"],
      { "known.json": { findings: [] } },
      /known\.json: it is no baseline of version 1/,
    ],
    [
      "two sources of events",
      ["src/functions.ts", "--generate", "--event", "both.json"],
      {},
      /Give one of --event and --generate/,
    ],
    [
      "an event that is no JSON",
      ["src/functions.ts", "--event", "bad.json"],
      { "bad.json": "{" },
      /bad\.json is not JSON/,
    ],
    [
      "an event without a name",
      ["src/functions.ts", "--event", "bad.json"],
      { "bad.json": {} },
      /bad\.json: an event has no `name`/,
    ],
    [
      "an event nobody hears",
      ["src/functions.ts", "--event", "bad.json"],
      { "bad.json": { name: "x/y" } },
      /no function here is started by "x\/y"/,
    ],
    [
      "a store that is not there",
      ["src/functions.ts", "--from-store", "sqlite:./no.db"],
      {},
      /no\.db cannot be opened/,
    ],
    [
      "a memory with an entry without reason",
      ["src/functions.ts"],
      { "idem.verify.json": { accepted: [{ effect: "POST x", until: "2999-01-01" }] } },
      /"POST x" is accepted without a reason/,
    ],
    [
      "a memory with an entry without end",
      ["src/functions.ts"],
      { "idem.verify.json": { accepted: [{ effect: "POST x", because: "so" }] } },
      /"POST x" is accepted without an end/,
    ],
    [
      "an address in place of a host",
      ["src/functions.ts", "--record", "https://sandbox.example/v1"],
      {},
      /--record is "https:\/\/sandbox\.example\/v1"; it is the name of a host/,
    ],
    [
      "real data for a file that is committed",
      ["src/functions.ts", "--record", "sandbox.example", "--from-store", "sqlite:./no.db"],
      {},
      /--from-store asks with real data/,
    ],
    [
      "recordings that are none",
      ["src/functions.ts"],
      { "idem.verify.recordings.json": { version: 2 } },
      /idem\.verify\.recordings\.json: it is no recording of version 1/,
    ],
    [
      "a configuration with a word it does not know",
      ["src/functions.ts"],
      { "idem.verify.mjs": "export default { fixture: [] }" },
      /did you mean "fixtures"\?/,
    ],
  ])("%s", async (_, args, files, message) => {
    const { terminal, verify } = project(files);
    expect(await verify(...args)).toBe(3);
    expect(terminal.written.err).toMatch(message);
    expect(terminal.written.out).toBe("");
  });

  test("a module that never comes to its end is named, and nothing is left behind", async () => {
    const { folder } = project();
    // The command's patience, shortened.
    const platform = { ...nodePlatform, timer: (ms: number, run: () => void) => nodePlatform.timer(ms / 30, run) };
    const terminal = fakeTerminal({ cwd: folder, platform });
    expect(await terminal.run("verify", "src/spins.ts")).toBe(3);
    expect(terminal.written.err).toMatch(/src\/spins\.ts does not come to its end/);
  });
});
