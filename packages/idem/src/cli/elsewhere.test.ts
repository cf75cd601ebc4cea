// Commands on a server elsewhere: they say what they say on its store.
import { copyFileSync } from "node:fs";
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
  await idem.start();
  const paid = await idem.send({ name: "order/paid", id: "order-paid-7", data: { orderId: 7 } });
  await idem.runs.wait(paid.decisions[0]!.runId!);
  await idem.send({ name: "order/paid", data: { orderId: 7, note: "again" } });
  const trial = await idem.send({ name: "trial/started", data: { user: "ann" } });
  await idem.functions.pause("charge", { reason: "wrong price" });
  const held = await idem.send({ name: "order/paid", data: { orderId: 8 } });
  await idem.idle();
  await idem.stop();
  const before = join(cwd, "before.db");
  copyFileSync(path, before);
  const server = await testServer({
    mode: "start",
    store: `sqlite:${path}`,
    eventKeys: [testKeys.event],
    signingKeys: [signingKey],
    radar: false,
  });
  // The same instant for all of them: what is told in ages is told alike.
  const now = Date.now();
  const platform = { ...nodePlatform, wallMs: () => now };
  const terminal = (env: Record<string, string>) => fakeTerminal({ cwd, platform, env, columns: 160 });
  return {
    beside: terminal({ IDEM_STORE: `sqlite:${path}` }),
    elsewhere: terminal({ IDEM_SERVER: server.origin, IDEM_SIGNING_KEY: signingKey }),
    copy: terminal({ IDEM_STORE: `sqlite:${before}` }),
    words: {
      run: paid.decisions[0]!.runId!,
      sleeping: trial.decisions[0]!.runId!,
      event: paid.ids[0]!,
      held: held.ids[0]!,
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
  radar: [[], ["--all"], ["01JZZ4Q8X5T2M7N0B6E3R9V1KD"]],
};

/** In this order, each on the store the others left. */
const acts: readonly (readonly string[])[] = [
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
];

/** Ids and times that are made anew on each side. */
const steady = (text: string): string =>
  text
    // In what it refuses a server has functions by their full names.
    .replaceAll('"shop-charge"', '"charge"')
    .replaceAll(/\b[0-9A-HJKMNP-TV-Z]{26}\b/g, "<id>")
    .replaceAll(/\b1[78]\d{11}\b/g, "<instant>")
    .replaceAll(/\d{4}-\d\d-\d\d[T ][\d:.]+Z?( UTC)?( \((now|in [^)]+|[^)]+ ago)\))?/g, "<time>");

const answerOf = async (terminal: FakeTerminal, args: readonly string[]) => {
  const code = await terminal.run(...args);
  return { args, code, out: terminal.written.out, err: terminal.written.err };
};

describe("a server elsewhere", () => {
  test("is read and acted on by every command that takes --server, in the words that it has for the store itself", async () => {
    const { beside, elsewhere, copy, words } = await shop();
    const said = (args: readonly string[]) => args.map((word) => words[word.slice(1, -1)] ?? word);
    for (const [name, all] of Object.entries(readings)) {
      for (const [i, rest] of all.entries()) {
        for (const json of i === 0 ? [[], ["--json"]] : [["--json"]]) {
          const args = [name, ...said(rest), ...json];
          expect(await answerOf(elsewhere, args)).toEqual(await answerOf(beside, args));
        }
      }
    }
    for (const act of acts) {
      const [there, here] = [await answerOf(elsewhere, said(act)), await answerOf(copy, said(act))];
      expect({ ...there, out: steady(there.out), err: steady(there.err) }).toEqual({
        ...here,
        out: steady(here.out),
        err: steady(here.err),
      });
    }
    const tried = new Set([...Object.keys(readings), ...acts.map(([name]) => name!), "tail", "mcp"]);
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
    expect(await elsewhere.run("rerun", "--where", "true", "--reason", "x")).toBe(2);
    expect(elsewhere.written.err).toContain("POST /api/bulk");
  });

  test("is refused by every other command, with the reason", async () => {
    const terminal = fakeTerminal({ cwd: temporaryFolder() });
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
