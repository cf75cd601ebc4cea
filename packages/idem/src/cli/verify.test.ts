// The command, on small projects in TypeScript (fixtures/verifying), each in a folder of its own. Worlds are played in threads that run from dist.
import { cpSync, existsSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test, vi } from "vitest";
import { nodePlatform } from "../platform/node-platform.ts";
import { Idem } from "../sdk/client.ts";
import { fakeTerminal } from "./fake-terminal.ts";
import { silent } from "./open-reading.ts";
import { temporaryFolder } from "./store-world.ts";

// Threads load everything anew for each command: on a busy machine that takes its time.
vi.setConfig({ testTimeout: 300_000 });

const idem = join(dirname(fileURLToPath(import.meta.url)), "..", "..");

function project(files: Readonly<Record<string, unknown>> = {}) {
  const folder = temporaryFolder();
  cpSync(join(idem, "fixtures", "verifying"), folder, { recursive: true });
  symlinkSync(join(idem, "..", "..", "node_modules"), join(folder, "node_modules"));
  for (const [name, content] of Object.entries(files)) {
    writeFileSync(join(folder, name), typeof content === "string" ? content : JSON.stringify(content));
  }
  const terminal = fakeTerminal({ cwd: folder, platform: nodePlatform });
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
    // Only what the event reaches.
    expect(out).not.toContain("send-receipt");
    const [, repeat] = /repeat: idem (.*)$/m.exec(out)!;
    const [, schedule] = /--schedule (\S+)/.exec(repeat!)!;
    expect(memoryIn(folder)).toEqual({ failing: { "draft-invoice": [schedule] }, accepted: [] });

    expect(await terminal.run(...repeat!.split(" "), "--reporter", "json")).toBe(1);
    // What the program prints is no part of the answer, and nothing it does at import reaches its store.
    expect(JSON.parse(terminal.written.out)).toMatchObject({
      functions: [
        {
          id: "draft-invoice",
          verdict: "DOUBLED",
          effects: 1,
          event: { name: "crm/placement.made", from: "from placement.json" },
          findings: [
            {
              verdict: "DOUBLED",
              place: { file: "src/functions.ts", line: 11 },
              schedule,
              mend: {
                edits: [
                  { file: "src/functions.ts", line: 10, after: expect.stringContaining("async ({ key }) => {") },
                  { line: 12, after: expect.stringContaining('"Idempotency-Key": key') },
                ],
              },
              repeat: `idem ${repeat}`,
            },
          ],
        },
      ],
      summary: { verdicts: { DOUBLED: 1 }, problems: [] },
    });
    expect(existsSync(join(folder, "billing.db"))).toBe(false);
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

describe("what cannot be verified ends with 3 and says why", () => {
  test.each<[string, readonly string[], Readonly<Record<string, unknown>>, RegExp]>([
    ["no module", [], {}, /Which modules\?/],
    ["a file that is not there", ["src/absent.ts"], {}, /src\/absent\.ts cannot be verified: there is no such file/],
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
    ["an unknown function", ["src/functions.ts", "--function", "draft-invoce"], {}, /Did you mean "draft-invoice"\?/],
    ["an unknown schedule", ["src/functions.ts", "--schedule", "die-nicely"], {}, /There is no schedule "die-nicely"/],
    ["an unknown option", ["src/functions.ts", "--functions", "x"], {}, /Did you mean --function\?/],
    ["an unknown reporter", ["src/functions.ts", "--reporter", "xml"], {}, /--reporter is "xml"/],
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
