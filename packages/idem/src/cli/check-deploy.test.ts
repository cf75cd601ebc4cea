// The command, over stores filled by one build of a small program and modules of the next. Runs are replayed in a thread that runs from dist.
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test, vi } from "vitest";
import { nodePlatform } from "../platform/node-platform.ts";
import type { FunctionOptions } from "../sdk/function-types.ts";
import { deployShape } from "../verify/deploy/deploy-shape.suite.ts";
import { fakeTerminal } from "./fake-terminal.ts";
import { KeptThreads } from "./kept-threads.suite.ts";
import { storeWorld } from "./store-world.ts";

// A thread loads everything anew: on a busy machine that takes its time.
vi.setConfig({ testTimeout: 300_000 });

const threads = new KeptThreads(nodePlatform);
afterAll(() => threads.close());

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "..", "..");

type Handler = (context: any) => Promise<unknown>;

/** A store in which these functions are at work, started by events of their names; and the command, which reads it beside them. */
async function shop(functions: Readonly<Record<string, Handler>>, options: Partial<FunctionOptions> = {}) {
  const world = storeWorld();
  const { idem, folder, path } = world;
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  for (const [id, code] of Object.entries(functions)) {
    idem.createFunction({ id, ...options }, { event: `shop/${id}` }, code);
  }
  await idem.start();
  const platform = { ...nodePlatform, wallMs: () => world.platform.wallMs(), startThread: threads.startThread };
  const terminal = fakeTerminal({ cwd: folder, platform, env: { IDEM_STORE: `sqlite:${path}` } });
  let builds = 0;
  const check = async (text: string, ...args: string[]) => {
    const file = `build-${++builds}.mjs`;
    const head = 'import { Idem } from "idem";\nconst idem = new Idem({ id: "shop" });\n';
    writeFileSync(join(folder, file), `${head}${text}\n`);
    const code = await terminal.run("check-deploy", file, ...args);
    return { code, ...terminal.written };
  };
  return {
    ...world,
    terminal,
    send: async (id: string, data: Record<string, unknown> = {}) => {
      const { decisions } = await idem.send({ name: `shop/${id}`, data });
      await idem.idle();
      return decisions[0]!.runId!;
    },
    /** Checks a build with this text. */
    check,
    report: async (text: string, ...args: string[]) => {
      const { code, out, err } = await check(text, ...args, "--json");
      if (code === 3) throw new Error(err);
      return { code, ...deployShape.parse(JSON.parse(out)) };
    },
  };
}

const defined = (id: string, body: string, options = ""): string =>
  `idem.createFunction({ id: "${id}", ${options} }, { event: "shop/${id}" }, async ({ event, step }) => {${body}});`;

const charged: Handler = async ({ step }) => {
  await step.run("charge", () => "charged");
  await step.sleep("nap", "30d");
  await step.run("mail", () => "mailed");
};
const billing = (id: string): string =>
  defined("bill", `await step.run(${id}, () => ""); await step.sleep("nap", "30d"); await step.run("mail", () => "");`);

describe("a step renamed while its run sleeps", () => {
  test("is told before the deploy, with the key it would carry and the one it had", async () => {
    const keys: string[] = [];
    const { send, check, report } = await shop({
      bill: async ({ step }) => {
        await step.run("charge", ({ key }: { key: string }) => void keys.push(key));
        await step.sleep("nap", "30d");
      },
    });
    const runId = await send("bill", { order: 7 });
    expect(await check(billing('"charge"'))).toMatchObject({
      code: 0,
      out: expect.stringContaining("✓ GOES ON   1 run"),
    });
    const { code, out } = await check(billing('"charge-card"'));
    expect(code).toBe(1);
    expect(out).toMatch(/✗ AGAIN +step "charge", now "charge-card": it is done, and would be done again\n/);
    expect(out).toContain(runId);
    const { functions } = await report(billing('"charge-card"'));
    const key = functions.find(({ id }) => id === "bill")!.findings[0]!.key!;
    expect(out).toContain(`under the key ${key.now}, where it had ${key.before}`);
    expect([key.before]).toEqual(keys);
    expect(key.now).not.toBe(key.before);
  });

  test("and said so with `was`, is kept: nothing is told, and the run goes on", async () => {
    const { send, report } = await shop({ bill: charged });
    await send("bill");
    const { code, functions } = await report(billing('{ id: "charge-card", was: "charge" }'));
    expect([code, functions[0]]).toMatchObject([0, { verdict: "GOES ON", findings: [] }]);
    const twice = defined(
      "bill",
      'await step.run({ id: "charge-card", was: "charge" }, () => ""); await step.run("charge", () => "");',
    );
    const stuck = await report(twice);
    expect(stuck.functions[0]).toMatchObject({
      verdict: "STUCK",
      findings: [{ why: expect.stringMatching(/parked: .*"charge"/) }],
    });
  });

  test("and deployed all the same, is done again and noticed: in the timeline, in the log and by an alert", async () => {
    const told: string[] = [];
    const { send, idem, advance, store } = await shop({
      bill: async ({ step }) => {
        await step.run(name, () => "charged");
        await step.sleep("nap", "30d");
        await step.run("mail", () => "mailed");
      },
    });
    let name = "charge";
    idem.on("run.diverged", ({ step, asked }) => told.push(`${step} → ${asked}`));
    const runId = await send("bill");
    name = "charge-card";
    await advance(31 * 86_400_000);
    expect(told).toEqual(["charge → charge-card"]);
    const { timeline, state } = (await idem.runs.get(runId))!;
    expect(state).toBe("completed");
    expect(timeline.filter(({ kind }) => kind === "diverged")).toMatchObject([{ name: "charge" }]);
    const alerts = await store.reads.alerts("default", { limit: 10 });
    expect(alerts).toMatchObject([{ kind: "diverged", fn: "shop-bill" }]);
  });
});

const outside = 'await fetch("https://rates.example/eur");';

describe("idem check-deploy", () => {
  // One store and one build for all: each case is a function of its own.
  const cases: Readonly<Record<string, { before: Handler; now: string; says: object }>> = {
    "behind-what-is-done": {
      before: charged,
      now: 'await step.run("charge", () => ""); await step.sleep("nap", "30d"); await step.run("post", () => "");',
      says: { verdict: "GOES ON", findings: [] },
    },
    "between-what-is-done": {
      before: charged,
      now: 'await step.run("new", () => ""); await step.run("charge", () => ""); await step.sleep("nap", "30d");',
      says: { verdict: "GOES ON", findings: [{ kind: "NOTE", asked: "new", why: expect.stringContaining("late") }] },
    },
    removed: {
      before: charged,
      now: 'await step.sleep("nap", "30d");',
      says: { verdict: "DROPPED", findings: [{ kind: "DROPPED", step: "charge", asked: null }] },
    },
    "removed-with-its-wait": {
      before: charged,
      now: 'await step.run("charge", () => "");',
      says: {
        verdict: "DROPPED",
        findings: [{ step: "nap", why: expect.stringContaining("it waits, and nothing asks") }],
      },
    },
    "sleep-renamed": {
      before: charged,
      now: 'await step.run("charge", () => ""); await step.sleep("rest", "30d");',
      says: { verdict: "AGAIN", findings: [{ step: "nap", asked: "rest", key: null }] },
    },
    "two-renamed": {
      before: async ({ step }) => {
        await step.run("load", () => "");
        await step.run("charge", () => "");
        await step.sleep("nap", "30d");
      },
      now: 'await step.run("load-order", () => ""); await step.run("charge-card", () => ""); await step.sleep("nap", "30d");',
      says: {
        verdict: "AGAIN",
        findings: [
          { step: "load", asked: "load-order" },
          { step: "charge", asked: "charge-card" },
        ],
      },
    },
    "beside-others": {
      before: async ({ step }) => {
        await Promise.all([step.run("a", () => 1), step.run("b", () => 2), step.sleep("nap", "30d")]);
      },
      now: `await Promise.all([step.run("a", () => 1), (async () => {
        await new Promise((resolve) => setTimeout(resolve, 50));
        await step.run("c", () => 2);
      })(), step.sleep("nap", "30d")]);`,
      says: { verdict: "AGAIN", findings: [{ step: "b", asked: "c" }] },
    },
    "late-beside-others": {
      before: async ({ step }) => {
        await Promise.all([step.run("a", () => 1), step.run("b", () => 2), step.sleep("nap", "30d")]);
      },
      now: `await Promise.all([step.run("a", () => 1), (async () => {
        await new Promise((resolve) => setTimeout(resolve, 50));
        await step.run("b", () => 2);
      })(), step.sleep("nap", "30d"), step.run("fresh", () => 3)]);`,
      says: { verdict: "GOES ON", findings: [] },
    },
    "another-kind": {
      before: charged,
      now: 'await step.sleep("charge", "1h"); await step.sleep("nap", "30d");',
      says: {
        verdict: "STUCK",
        findings: [{ step: "charge", why: expect.stringContaining("a sleep now and was step.run") }],
      },
    },
    throws: {
      before: charged,
      now: '\nawait step.run("charge", () => ""); event.data.order.id.length; await step.sleep("nap", "30d");',
      says: {
        verdict: "STUCK",
        findings: [{ why: expect.stringContaining("TypeError"), place: { file: expect.stringMatching(/^build-/) } }],
      },
    },
    "fails-as-it-would": {
      before: async ({ step }) => {
        await step.run("quick", () => "");
        await step.run("charge", () => {
          throw new Error("declined");
        });
      },
      now: 'await step.run("quick", () => ""); await step.run("charge", () => "");',
      says: { verdict: "GOES ON", findings: [] },
    },
    "tried-and-renamed": {
      before: async ({ step }) => {
        await step.run("charge", () => {
          throw new Error("away");
        });
      },
      now: 'await step.run("charge-card", () => "");',
      says: {
        verdict: "AGAIN",
        findings: [{ step: "charge", asked: "charge-card", why: expect.stringContaining("tried") }],
      },
    },
    hangs: {
      before: charged,
      now: 'await step.run("charge", () => ""); await new Promise(() => {});',
      says: { verdict: "STUCK", findings: [{ why: expect.stringContaining("no step") }] },
    },
    "asks-outside": {
      before: charged,
      now: `${outside} await step.run("charge", () => ""); await step.sleep("nap", "30d");`,
      says: { verdict: "UNPROVEN", findings: [{ why: expect.stringContaining("GET rates.example/eur") }] },
    },
    "asks-outside-in-vain": {
      before: charged,
      now: `try { ${outside} } catch {} await step.run("charge", () => ""); await step.sleep("nap", "30d");`,
      says: { verdict: "GOES ON", findings: [] },
    },
    waits: {
      before: ({ step }) => step.waitForEvent("paid", { event: "shop/paid", match: "data.order", timeout: "30d" }),
      now: 'await step.waitForEvent("paid", { event: "shop/paid", match: "data.customer", timeout: "30d" });',
      says: {
        verdict: "GOES ON",
        findings: [
          {
            kind: "NOTE",
            step: "paid",
            why: expect.stringMatching(/waits on with .*data\.order.* now .*data\.customer/),
          },
        ],
      },
    },
  };

  test("says of each function what becomes of its open runs, and why", async () => {
    const { send, report, idem } = await shop(
      { gone: charged, ...Object.fromEntries(Object.entries(cases).map(([id, { before }]) => [id, before])) },
      { retries: 3, backoff: () => 86_400_000 },
    );
    for (const id of ["gone", ...Object.keys(cases)]) await send(id, { order: 7 });
    const text = Object.entries(cases).map(([id, { now }]) => defined(id, now));
    const { code, functions, summary, others } = await report(text.join("\n"));
    for (const [id, { says }] of Object.entries(cases)) {
      expect(
        functions.find((each) => each.id === id),
        id,
      ).toMatchObject({ ...says, runs: { open: 1, checked: 1 } });
    }
    expect(functions.find(({ id }) => id === "gone")).toMatchObject({
      verdict: "STUCK",
      runs: { open: 1, stuck: 1 },
      findings: [{ why: expect.stringContaining("none of these modules has the function") }],
    });
    expect(functions.find(({ id }) => id === "removed-with-its-wait")!.findings).toHaveLength(1);
    const open = Object.keys(cases).length + 1;
    expect(summary).toMatchObject({ open, checked: open, goesOn: 6, again: 4, dropped: 2, stuck: 4, unproven: 1 });
    expect([code, others]).toEqual([1, { apps: [], open: 0 }]);
    // Nothing of it was written down, and the owner goes on.
    expect(await idem.runs.list({ function: "removed" })).toMatchObject([{ state: "waiting" }]);
  });

  test("says of a change what becomes of what waits: windows, lines, gathered events and ticks", async () => {
    const { send, report, idem, platform } = await shop({}, {});
    idem.createFunction(
      {
        id: "bill",
        idempotency: { key: "event.data.order", window: "24h" },
        concurrency: 1,
        timeouts: { finish: "90d" },
      },
      [{ event: "shop/bill" }, { cron: "0 9 * * *" }],
      ({ step }) => step.sleep("nap", "30d"),
    );
    idem.createFunction(
      { id: "sum", batchEvents: { maxSize: 10, timeout: "1h" } },
      { event: "shop/sum" },
      async () => null,
    );
    for (const order of [1, 2, 3]) await send("bill", { order });
    await idem.send({ name: "shop/sum", data: {} });
    const ends = platform.wallMs() + 86_400_000;
    const { code, functions } = await report(
      `idem.createFunction({ id: "bill", idempotency: "event.data.invoice", concurrency: 2, timeouts: { finish: "1h" } },
        [{ event: "shop/bill", if: "event.data.order > 0" }, { cron: "0 8 * * *" }], ({ step }) => step.sleep("nap", "30d"));
      idem.createFunction({ id: "sum" }, { event: "shop/sum" }, async () => null);`,
    );
    expect(code).toBe(1);
    const changes = Object.fromEntries(functions.flatMap(({ changes }) => changes.map((each) => [each.what, each])));
    expect(changes.idempotency).toMatchObject({
      before: "event.data.order",
      now: "event.data.invoice",
      waiting: 3,
      until: ends,
      isRisk: true,
    });
    expect(changes.concurrency).toMatchObject({ before: "1 at once", now: "2 at once", isRisk: false });
    expect(changes.batch).toMatchObject({
      now: "none",
      waiting: 1,
      becomes: "1 event gathered becomes a run when and as it was to",
    });
    expect(changes["cron 0 9 * * *"]).toMatchObject({ now: "0 8 * * *", waiting: 0, isRisk: false });
    expect(changes["trigger shop/bill"]).toMatchObject({ before: "always", now: "event.data.order > 0" });
    expect(changes["timeouts.finish"]).toMatchObject({ before: "90 d", now: "1 h", waiting: 0, isRisk: false });
  });

  test("looks at as many of each position as it is told to, and says of how many", async () => {
    const { send, report, check } = await shop({ bill: charged, ship: charged });
    for (let order = 0; order < 5; order++) await send("bill", { order });
    await send("ship");
    const text = `${billing('"charge"')}\n${defined("ship", 'await step.run("charge-card", () => "");')}`;
    const { functions, summary } = await report(text, "--sample", "2");
    expect(functions.map(({ id, runs: { open, checked } }) => [id, open, checked])).toEqual([
      ["bill", 5, 2],
      ["ship", 1, 1],
    ]);
    expect(summary).toMatchObject({ open: 6, checked: 3, sample: 2 });
    const few = await check(text, "--sample", "2", "--function", "bill");
    expect(few).toMatchObject({ code: 0, err: expect.stringContaining("3 open runs were not looked at") });
    expect(few.out).toContain("2 of 5 open runs checked");
    expect(few.out).not.toContain("ship");
  });

  test("ends with 3 where it cannot check: no such function, no store, a module that does not load", async () => {
    const { check, terminal } = await shop({ bill: charged });
    expect(await check(billing('"charge"'), "--function", "bil")).toMatchObject({
      code: 3,
      err: expect.stringContaining('Did you mean "bill"?'),
    });
    expect(await check(billing('"charge"'), "--store", "nowhere.db")).toMatchObject({ code: 3 });
    expect(await check('throw new Error("broken");')).toMatchObject({
      code: 3,
      err: expect.stringContaining("broken"),
    });
    expect(await terminal.run("check-deploy")).toBe(3);
    expect(terminal.written.err).toContain("idem check-deploy src/functions.ts");
  });
});

describe("docs/deploying.md", () => {
  const page = readFileSync(join(root, "docs", "deploying.md"), "utf8");
  const blocks = (language: string) =>
    [...page.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, "gm"))].map(([, text]) => text!);

  test("shows a report of the shape that --json has", () => {
    const [shown, ...others] = blocks("json");
    expect(deployShape.parse(JSON.parse(shown!)).functions).toHaveLength(1);
    expect(others).toEqual([]);
  });

  test("shows what the command prints, and every command of it runs", async () => {
    const { send, folder, terminal, idem, stop } = await shop({});
    idem.createFunction(
      { id: "bill", idempotency: "event.data.order" },
      { event: "shop/bill" },
      async ({ event, step }) => {
        if (event.data.free !== true) await step.run("charge", () => "");
        await step.sleep("nap", "30d");
      },
    );
    await send("bill", { order: 1 });
    await send("bill", { order: 2 });
    await send("bill", { order: 3, free: true });
    await stop();
    mkdirSync(join(folder, "build"));
    const body =
      'if (event.data.free !== true) await step.run("charge-card", () => ""); await step.sleep("nap", "30d");';
    writeFileSync(
      join(folder, "build", "functions.mjs"),
      `import { Idem } from "idem"; const idem = new Idem({ id: "shop" });
      ${defined("bill", body, 'idempotency: "event.data.invoice"')}`,
    );
    const commands = blocks("sh").flatMap((text) => text.trim().split("\n"));
    expect(commands.length).toBeGreaterThan(3);
    const printed: string[] = [];
    for (const line of commands) {
      const [, ...words] = line.split(" ");
      const code = await terminal.run(...words);
      printed.push(terminal.written.out);
      expect([line, code, terminal.written.err]).toEqual([line, words[0] === "check-deploy" ? 1 : 0, ""]);
    }
    const [, screen] = /```\n(bill [\s\S]*?)```/.exec(page)!;
    const pattern = screen!.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replaceAll("…", ".*");
    expect(printed[0]).toMatch(new RegExp(`^${pattern}$`));
  });
});
