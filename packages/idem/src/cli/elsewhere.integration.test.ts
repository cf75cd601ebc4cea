// Commands on a server elsewhere: they say what they say on its store.
import { copyFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { nodePlatform } from "../platform/node-platform.ts";
import { Idem } from "../sdk/client.ts";
import { testKeys, testServer } from "../server/test-server.suite.ts";
import type { Command } from "./command.ts";
import { allCommands } from "./commands.ts";
import { type FakeTerminal, fakeTerminal } from "./fake-terminal.ts";
import { silent } from "./open-reading.ts";
import { temporaryFolder } from "./store-world.ts";

let commands: readonly Command[];
beforeAll(async () => {
  commands = await allCommands();
});

const signingKey = `signkey-default-${testKeys.signing}`;

interface Shop {
  /** On the store's own file. */
  readonly beside: FakeTerminal;
  /** On a server over that file, by its address and a key. */
  readonly elsewhere: FakeTerminal;
  /** On a copy of the file from before the server began. */
  readonly copy: FakeTerminal;
  readonly words: Readonly<Record<string, string>>;
}

/** The code that would go live: the sleep of "remind" has another name. */
const newCode = `
  import { Idem } from ${JSON.stringify(new URL("../../dist/index.js", import.meta.url).href)};
  const idem = new Idem({ id: "shop" });
  idem.createFunction({ id: "remind" }, { event: "trial/started" }, ({ step }) => step.sleep("month", "30d"));
`;

/** Runs of every kind, a paused function with an event, an alert, keys, a log, a page of the audit. */
async function shop(): Promise<Shop> {
  const cwd = temporaryFolder();
  const path = join(cwd, "shop.db");
  const idem = new Idem({ id: "shop", store: `sqlite:${path}`, logger: silent });
  idem.createFunction(
    { id: "charge", idempotency: "event.data.orderId" },
    { event: "order/paid" },
    async ({ step, logger }) => {
      logger.info("charging");
      return step.run("charge-card", () => ({ receipt: "r-1" }));
    },
  );
  idem.createFunction({ id: "remind", concurrency: 5 }, { event: "trial/started" }, async ({ step }) =>
    step.sleep("week", "7d"),
  );
  idem.createFunction({ id: "report" }, { cron: "0 6 * * *" }, () => 1);
  idem.createFunction({ id: "bill", retries: 0 }, { event: "order/billed" }, ({ step }) =>
    step.effect("send", { destination: "paypal/orders", entity: "order-7" }, () => {
      throw new Error("socket hang up");
    }),
  );
  await idem.start();
  const paid = await idem.send({ name: "order/paid", id: "order-paid-7", data: { orderId: 7 } });
  await idem.runs.wait(paid.decisions[0]!.runId!);
  await idem.send({ name: "order/paid", data: { orderId: 7, note: "again" } });
  const trial = await idem.send({ name: "trial/started", data: { user: "ann" } });
  await idem.send({ name: "order/billed", data: {} });
  await idem.functions.pause("charge", { reason: "wrong price" });
  const held = await idem.send({ name: "order/paid", data: { orderId: 8 } });
  await idem.idle();
  const [effect] = await idem.effects.list();
  await idem.stop();
  writeFileSync(join(cwd, "shop.mjs"), newCode);
  const before = join(cwd, "before.db");
  copyFileSync(path, before);
  const server = await testServer({
    mode: "start",
    store: `sqlite:${path}`,
    eventKeys: [testKeys.event],
    signingKeys: [signingKey],
    radar: false,
  });
  // The same instant for all of them: ages are the same.
  const now = Date.now();
  const platform = { ...nodePlatform, wallMs: () => now };
  const terminal = (env: Record<string, string>) =>
    fakeTerminal({ cwd, platform, env: { ...env, HOOK: "https://example.com/hook" }, columns: 160 });
  return {
    beside: terminal({ IDEM_STORE: `sqlite:${path}` }),
    elsewhere: terminal({ IDEM_SERVER: server.origin, IDEM_SIGNING_KEY: signingKey }),
    copy: terminal({ IDEM_STORE: `sqlite:${before}` }),
    words: {
      run: paid.decisions[0]!.runId!,
      sleeping: trial.decisions[0]!.runId!,
      event: paid.ids[0]!,
      held: held.ids[0]!,
      effect: effect!.id,
    },
  };
}

const readings: Readonly<Record<string, readonly (readonly string[])[]>> = {
  runs: [[], ["--function", "charge", "--limit", "1"], ["--state", "waiting"]],
  run: [["<run>"], ["<run>", "--logs"], ["<sleeping>"], ["01JZZ4Q8X5T2M7N0B6E3R9V1KD"]],
  events: [[], ["--name", "order/paid"], ["--pending"], ["--pending", "--function", "charge"]],
  explain: [["<run>"], ["<event>"], ["order-paid-7"], ["<held>"], ["7", "--function", "charge"], ["nobody"]],
  keys: [[], ["--function", "charge"]],
  effects: [[], ["--doubled"]],
  functions: [[]],
  crons: [[]],
  nodes: [[]],
  audit: [[]],
  radar: [[], ["--all"], ["01JZZ4Q8X5T2M7N0B6E3R9V1KD"], ["--channels"]],
  webhooks: [[]],
};

/** In this order, each on the store the others left. */
const acts: readonly (readonly string[])[] = [
  ["check-deploy", "shop.mjs"],
  ["send", "order/paid", '{"orderId":9}', "--id", "order-paid-9"],
  ["send", "order/paid", '{"orderId":9}', "--id", "order-paid-9"],
  ["send", "nobody/listens"],
  ["pause", "remind", "--reason", "quiet"],
  ["pause", "remind"],
  ["resume", "remind"],
  ["limit", "remind"],
  ["limit", "remind", "--concurrency", "20", "--for", "1h", "--reason", "month end"],
  ["limit", "remind", "--end"],
  ["limit", "charge", "--end"],
  ["limit", "nobody"],
  ["release", "<held>", "--reason", "looked into it"],
  ["drop", "<held>"],
  ["resume", "charge", "--drop"],
  ["cancel", "<sleeping>", "--reason", "left"],
  ["cancel", "<sleeping>"],
  ["cancel", "01JZZ4Q8X5T2M7N0B6E3R9V1KD"],
  ["release", "<run>"],
  ["rerun", "<run>"],
  ["rerun", "01JZZ4Q8X5T2M7N0B6E3R9V1KD"],
  ["keys", "--release", "7", "--function", "charge", "--reason", "paid by hand"],
  ["keys", "--release", "nothing", "--function", "charge", "--reason", "x"],
  ["radar", "01JZZ4Q8X5T2M7N0B6E3R9V1KD", "--close", "--reason", "x"],
  ["radar", "channel", "add", "ops", "--kind", "webhook", "--url-env", "HOOK"],
  ["radar", "channel", "add", "ops", "--kind", "log"],
  ["radar", "channel", "add", "night", "--kind", "log"],
  ["radar", "--channels"],
  ["radar", "channel", "test", "night"],
  ["radar", "channel", "remove", "ops", "--reason", "nobody reads it"],
  ["radar", "channel", "remove", "ops", "--reason", "twice"],
  ["webhooks", "add", "ci", "--provider", "github"],
  ["webhooks", "add", "ci", "--provider", "github", "--json"],
  ["webhooks", "add", "bank", "--provider", "stripe"],
  ["webhooks", "rotate", "ci", "--secret-env", "HOOK"],
  ["webhooks", "--json"],
  ["webhooks", "drop-old", "ci", "--json"],
  ["webhooks"],
  ["webhooks", "remove", "ci", "--reason", "moved"],
  ["webhooks", "rotate", "ci"],
  ["effects", "resolve", "<effect>", "--receipt", "in_1", "--reason", "seen there"],
  ["effects", "resolve", "<effect>", "--retry"],
  ["effects", "resolve", "nothing", "--retry"],
  ["rerun", "--where", "true", "--function", "charge", "--reason", "looked into it", "--dry-run"],
  ["rerun", "--where", "event.data.orderId == 7", "--function", "charge", "--key", "7", "--reason", "looked into it"],
  ["cancel", "--where", "event.data.user == 'nobody'", "--state", "waiting", "--since", "1h"],
  ["release", "--where", "true", "--state", "parked", "--json"],
  ["prune", "--older-than", "365d", "--dry-run"],
  ["prune", "--older-than", "365d"],
];

/** Ids and times that are made anew on each side. */
const steady = (text: string): string =>
  text
    // In what it refuses a server has functions by their full names.
    .replaceAll('"shop-charge"', '"charge"')
    .replaceAll(/\b[0-9A-HJKMNP-TV-Z]{26}\b/g, "<id>")
    .replaceAll(/whsec_[\w+/=]+|\b[0-9a-f]{64}\b|(?<="mark": ")[0-9a-f]{8}/g, "<secret>")
    // There the actor has a key of the server, and here a name of this machine.
    .replaceAll(/"actor": "[^"]+"/g, '"actor": "<who>"')
    .replaceAll("over the API", "by idem webhooks")
    .replaceAll(/, \d+ ms/g, ", <took>")
    .replaceAll(/\b1[78]\d{11}\b/g, "<instant>")
    .replaceAll(/\d{4}-\d\d-\d\d[T ][\d:.]+Z?( UTC)?( \((now|in [^)]+|[^)]+ ago)\))?/g, "<time>");

/** They make something here, or work on the store itself. */
const notElsewhere = [
  "dev",
  "start",
  "secret",
  "init",
  "verify",
  "restore",
  "migrate",
  "migrate-store",
  "upgrade",
  "sql",
  "docs",
  "completion",
];

const answerOf = async (terminal: FakeTerminal, args: readonly string[]) => {
  const code = await terminal.run(...args);
  return { args, code, out: terminal.written.out, err: terminal.written.err };
};

const steadyAnswer = ({ out, err, ...rest }: Awaited<ReturnType<typeof answerOf>>) => ({
  ...rest,
  out: steady(out),
  // A test of a channel that is the log is in the server's.
  err: steady(err).replace(/^idem: This is a test of the channel.*\n/, ""),
});

describe("a server elsewhere", () => {
  test("is read and acted on by every command that takes --server, in the words that it has for the store itself", async () => {
    const { beside, elsewhere, copy, words } = await shop();
    const said = (args: readonly string[]) =>
      args.map((word) => (/^<.*>$/.test(word) ? words[word.slice(1, -1)]! : word));
    for (const [name, all] of Object.entries(readings)) {
      for (const [i, rest] of all.entries()) {
        for (const json of i === 0 ? [[], ["--json"]] : [["--json"]]) {
          const args = [name, ...said(rest), ...json];
          expect(await answerOf(elsewhere, args)).toEqual(await answerOf(beside, args));
        }
      }
    }
    const answers = { there: [] as unknown[], here: [] as unknown[] };
    for (const act of acts) {
      answers.there.push(steadyAnswer(await answerOf(elsewhere, said(act))));
      answers.here.push(steadyAnswer(await answerOf(copy, said(act))));
    }
    expect(answers.there).toEqual(answers.here);
    const audited = async (terminal: FakeTerminal) => {
      const all = (await terminal.json("audit", "--limit", "100")) as { action: string; reason: string }[];
      const told = all.map(({ action, reason }) => steady(`${action}: ${reason}`));
      return told.slice(0, told.indexOf("cancel-run: left"));
    };
    // Beside the store a channel's test answers at once, and is not audited.
    const there = (await audited(elsewhere)).filter((each) => each !== "test-channel: sent");
    expect(there).toEqual(await audited(copy));
    expect(there).toEqual(expect.arrayContaining(["prune-history: ", "start-bulk: rerun: looked into it"]));
    const tried = new Set([
      ...Object.keys(readings),
      ...acts.map(([name]) => name!),
      "tail",
      "mcp",
      "doctor",
      "backup",
    ]);
    const carried = commands.filter(({ options }) => options.server !== undefined).map(({ name }) => name);
    expect(carried.filter((name) => !tried.has(name))).toEqual([]);

    expect(await elsewhere.run("tail", "--once", "--last", "3")).toBe(0);
    const tailed = elsewhere.written.out;
    expect(await beside.run("tail", "--once", "--last", "3")).toBe(0);
    expect(tailed).toBe(beside.written.out);

    // Named by --server it needs nothing around it but the key; without one nothing is told, nor where nobody listens.
    const at = ["--server", elsewhere.env("IDEM_SERVER")!];
    const bare = fakeTerminal({ cwd: elsewhere.cwd, platform: nodePlatform });
    expect(await bare.run("runs", ...at, "--signing-key", signingKey)).toBe(0);
    for (const key of [[], ["--signing-key", `signkey-default-${testKeys.otherSigning}`]]) {
      expect(await bare.run("runs", ...at, ...key)).toBe(3);
      expect(bare.written.err).toContain("IDEM_SIGNING_KEY");
    }
    expect(await bare.run("runs", ...at, "--store", "sqlite:shop.db")).toBe(2);

    // Examined and copied by the server's own command, where the store is.
    const [healthThere, healthHere] = [
      await answerOf(elsewhere, ["doctor", "--report", "monday.md"]),
      await answerOf(beside, ["doctor"]),
    ];
    const findings = ({ code, out, err }: typeof healthThere) => [
      code,
      steady(out.replace(/\nwritten: .*/g, ""))
        .split("\n\n")
        .slice(1),
      err,
    ];
    expect(findings(healthThere)).toEqual(findings(healthHere));
    expect(healthThere.out.split("\n")[0]).toBe(healthHere.out.split("\n")[0]);
    expect(statSync(join(elsewhere.cwd, "monday.csv")).size).toBeGreaterThan(0);
    // Beside the server's file, whatever a person keeps there stays.
    const kept = join(elsewhere.cwd, "shop.db.backup-monday");
    writeFileSync(kept, "mine");
    expect(await elsewhere.run("backup", "copy.db")).toBe(0);
    expect(statSync(kept).size).toBe(4);
    expect(elsewhere.written.out).toContain("integrity ok");
    const copied = fakeTerminal({ cwd: elsewhere.cwd, platform: nodePlatform, env: { IDEM_STORE: "sqlite:copy.db" } });
    expect(await answerOf(copied, ["runs", "--json"])).toEqual(await answerOf(beside, ["runs", "--json"]));
    expect(await elsewhere.json("audit", "--action", "take-backup")).toMatchObject([
      { actor: "signing key of default" },
    ]);
  });

  test("is refused by every other command, with the reason", async () => {
    const terminal = fakeTerminal({ cwd: temporaryFolder() });
    expect(commands.flatMap(({ name, options }) => (options.server === undefined ? name : []))).toEqual(notElsewhere);
    for (const { name, options, words, whyNoServer } of commands) {
      if (options.server !== undefined) continue;
      const args = Array.from({ length: words.min }, () => "x");
      expect(await terminal.run(name, ...args, "--server", "http://127.0.0.1:9")).toBe(
        commands.find((each) => each.name === name)!.exits?.unable ?? 2,
      );
      expect(terminal.written.err).toContain(`idem ${name} takes no --server: ${whyNoServer}`);
    }
  });
});
