import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { describe, expect, test } from "vitest";
import { dayMs } from "../model/window.ts";
import { prunedNothing } from "../store/prune.ts";
import { fakeTerminal } from "./fake-terminal.ts";
import { storeWorld, temporaryFolder } from "./store-world.ts";

const hour = 3_600_000;

/** A store with one finished run, one suppressed by its key, one that sleeps; nobody has it open any more. */
async function shop(options: { columns?: number; input?: string } = {}) {
  const world = storeWorld(options);
  const { idem } = world;
  let charges = 0;
  idem.createFunction(
    { id: "charge", idempotency: "event.data.orderId" },
    { event: "order/paid" },
    async ({ step }) => {
      return step.run("charge-card", ({ attempt }) => {
        if (attempt === 1) throw new Error("card \x1b[31mdeclined");
        return { receipt: `r-${++charges}` };
      });
    },
  );
  idem.createFunction({ id: "remind" }, { event: "trial/started" }, async ({ step }) => step.sleep("week", "7d"));
  await idem.start();
  const first = await idem.send({ name: "order/paid", id: "order-paid-7", data: { orderId: 7 } });
  await world.advance(hour);
  const second = await idem.send({ name: "order/paid", data: { orderId: 7, note: "again" } });
  const trial = await idem.send({ name: "trial/started", data: { user: "ann" } });
  await idem.idle();
  await world.stop();
  return {
    ...world,
    runId: first.decisions[0]!.runId!,
    eventId: first.ids[0]!,
    duplicateId: second.ids[0]!,
    sleeping: trial.decisions[0]!.runId!,
  };
}

describe("looking", () => {
  test("runs lists runs newest first, as a table or as JSON", async () => {
    const { terminal, runId, sleeping } = await shop();
    expect(await terminal.run("runs")).toBe(0);
    const lines = terminal.written.out.trimEnd().split("\n");
    expect(lines).toHaveLength(3);
    expect(lines[0]).toMatch(/^RUN +FUNCTION +STATE +KEY +OPENED +AGE +TOOK/);
    expect(lines[1]).toContain(sleeping);
    expect(lines[2]).toMatch(new RegExp(`${runId} +charge +completed +7 `));
    expect(await terminal.json("runs", "--function", "charge")).toMatchObject([{ id: runId, state: "completed" }]);
    expect(await terminal.json("runs", "--state", "waiting")).toMatchObject([{ id: sleeping }]);
    expect(await terminal.json("runs", "--limit", "1", "--before", sleeping)).toMatchObject([{ id: runId }]);
  });

  test("run shows steps with attempts, keys and durations, and no escape sequence from a payload reaches the terminal", async () => {
    const { terminal, runId } = await shop();
    expect(await terminal.run("run", runId)).toBe(0);
    const { out } = terminal.written;
    expect(out).toMatch(/charge-card +run +completed +\d+ ms +idem_\S+ +\{"receipt":"r-1"\}/);
    expect(out).toMatch(/attempt 1 +failed .*card \\x1b\[31mdeclined; again at 2026-/);
    expect(out).not.toContain("\x1b");
    expect(await terminal.json("run", runId)).toMatchObject({ id: runId, timeline: [{ name: "charge-card" }] });
  });

  test("on a narrow terminal lines fit, and ids stay whole", async () => {
    const { terminal, runId } = await shop({ columns: 100 });
    expect(await terminal.run("runs")).toBe(0);
    const lines = stripVTControlCharacters(terminal.written.out).trimEnd().split("\n");
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(100);
    expect(lines.join()).toContain(runId);
    expect(terminal.written.out).toContain("\x1b[32mcompleted");
  });

  test("NO_COLOR leaves out colours on a terminal", async () => {
    const { folder, path, platform, runId } = await shop();
    const terminal = fakeTerminal({ cwd: folder, platform, columns: 200, env: { IDEM_STORE: path, NO_COLOR: "1" } });
    expect(await terminal.run("run", runId)).toBe(0);
    expect(terminal.written.out).not.toContain("\x1b");
  });

  test("events lists events, and says which are duplicates", async () => {
    const { terminal, eventId, duplicateId } = await shop();
    const list = await terminal.json("events", "--name", "order/paid");
    expect(list.map((event: any) => event.internalId)).toEqual([duplicateId, eventId]);
    expect(await terminal.run("events")).toBe(0);
    expect(terminal.written.out).toMatch(/order\/paid +order-paid-7 +2026-/);
  });

  test("keys shows who has a key, how often it was asked for and when its window ends", async () => {
    const { terminal, runId } = await shop();
    const claims = await terminal.json("keys", "--function", "charge");
    expect(claims).toMatchObject([{ scope: "fn:shop-charge", key: "7", holder: runId, asked: 2, isOpen: true }]);
    expect(await terminal.run("keys")).toBe(0);
    expect(terminal.written.out).toMatch(/event id +order-paid-7/);
    expect(terminal.written.out).toMatch(/charge +7 +settled/);
  });

  test("functions shows triggers and keys", async () => {
    const { terminal } = await shop();
    expect(await terminal.run("functions")).toBe(0);
    expect(terminal.written.out).toMatch(/charge +shop +order\/paid +event\.data\.orderId +1 d/);
    expect(terminal.written.out).toMatch(/remind +shop +trial\/started +none/);
  });

  test("a function that says why it has no key is shown with the reason; --keys shows a reviewer those without any first", async () => {
    const { terminal, idem, stop } = storeWorld();
    const none = { none: "each tick is new work" };
    idem.createFunction({ id: "keyed", idempotency: "event.data.id" }, { event: "a/b" }, async () => null);
    idem.createFunction({ id: "ticks", idempotency: none }, { cron: "0 9 * * *" }, async () => null);
    idem.createFunction({ id: "silent" }, { event: "a/b" }, async () => null);
    await idem.functions.list();
    await stop();
    expect(await terminal.run("functions")).toBe(0);
    expect(terminal.written.out).toContain("none: each tick is new work");
    expect(await terminal.run("functions", "--keys")).toBe(0);
    const lines = terminal.written.out.trimEnd().split("\n").slice(-3);
    expect(lines.map((line) => line.trim().split(/ {2,}/).slice(0, 3))).toEqual([
      ["silent", "none", "–"],
      ["ticks", "none: each tick is new work", "–"],
      ["keyed", "event.data.id", "1 d"],
    ]);
    expect((await terminal.json("functions")).find(({ id }: any) => id === "ticks").config).toMatchObject({
      idempotency: null,
      unkeyed: "each tick is new work",
    });
  });

  test("functions --check fails where a key is missing without a reason, and asks none of what comes once by itself", async () => {
    const { terminal, idem, stop } = storeWorld();
    const again = { timeout: "5s", maxSize: 10 } as const;
    idem.createFunction({ id: "keyed", idempotency: "event.data.id" }, { event: "a/b" }, async () => null);
    idem.createFunction({ id: "ticks" }, { cron: "0 9 * * *" }, async () => null);
    idem.createFunction({ id: "invoked" }, [], async () => null);
    idem.createFunction({ id: "gathers", batchEvents: again }, { event: "a/b" }, async () => null);
    idem.createFunction({ id: "mourns" }, { event: "inngest/function.failed" }, async () => null);
    await idem.functions.list();
    expect(await terminal.run("functions", "--check")).toBe(0);
    expect(terminal.written.out).toMatch(/ticks +none: a tick runs once/);
    idem.createFunction({ id: "both" }, [{ event: "a/b" }, { cron: "0 9 * * *" }], async () => null);
    await idem.functions.list();
    await stop();
    expect(await terminal.run("functions", "--check")).toBe(1);
    expect(terminal.written.err).toContain("Without a key: both. Give each idempotency:");
    expect(await terminal.run("functions", "--check", "--json")).toBe(1);
    expect(await terminal.run("functions", "--keys")).toBe(0);
  });

  test("limits, what a run waits for, and what would cancel it are shown", async () => {
    const { terminal, idem, stop } = storeWorld();
    idem.createFunction(
      { id: "sync", concurrency: { limit: 1, key: "event.data.of" }, cancelOn: [{ event: "shop/closed" }] },
      { event: "shop/opened" },
      async () => null,
    );
    const { decisions } = await idem.send([1, 2].map((n) => ({ name: "shop/opened", data: { of: "a", n } })));
    const { runId } = decisions[1]!;
    await stop();
    expect(await terminal.run("functions")).toBe(0);
    expect(terminal.written.out).toMatch(/sync .* 1 at once by event\.data\.of; cancelled by shop\/closed/);
    expect(await terminal.run("run", runId!)).toBe(0);
    expect(terminal.written.out).toMatch(/waits for +concurrency of key "a": 0 of 1 at work, 2 in line/);
    expect(terminal.written.out).toMatch(/cancel on +shop\/closed/);
    expect(await terminal.run("explain", runId!)).toBe(0);
    expect(terminal.written.out).toContain("Event shop/closed would cancel run 1.");
  });

  test("tail --once shows what happened as lines, or as one JSON document per line", async () => {
    const { terminal, runId } = await shop();
    expect(await terminal.run("tail", "--once")).toBe(0);
    expect(terminal.written.out).toMatch(/decision {2}charge: started run/);
    expect(terminal.written.out).toContain(`charge ${runId} completed after`);
    expect(await terminal.run("tail", "--once", "--json")).toBe(0);
    const documents = terminal.written.out
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(documents.map(({ kind }) => kind)).toEqual([
      "event",
      "decision",
      "event",
      "decision",
      "event",
      "decision",
      "run",
    ]);
  });

  test("tail goes on with what happens next until Ctrl-C", async () => {
    const world = storeWorld();
    const { terminal, idem, platform } = world;
    idem.createFunction({ id: "charge" }, { event: "order/paid" }, async () => "ok");
    await idem.start();
    const tailing = terminal.run("tail");
    await expect.poll(() => platform.untilNext()).not.toBeNull();
    await idem.send({ name: "order/paid", data: { orderId: 1 } });
    await idem.idle();
    await platform.advance(500, async () => {
      await new Promise((resolve) => setImmediate(resolve));
    });
    await expect.poll(() => terminal.written.out).toContain("completed after");
    terminal.interrupt();
    expect(await tailing).toBe(0);
    expect(terminal.written.out).toContain("charge: started run");
    await world.stop();
  });
});

describe("writing while nobody owns the store", () => {
  test("send stores the event and leaves its run for a process that has the function", async () => {
    const { terminal } = await shop();
    const sent = await terminal.json("send", "order/paid", '{"orderId":8}', "--id", "order-paid-8");
    expect(sent.decisions).toMatchObject([{ function: "charge", kind: "started", key: "8" }]);
    expect(await terminal.json("runs", "--state", "queued")).toMatchObject([{ id: sent.decisions[0].runId }]);
    const again = await terminal.json("send", "order/paid", '{"orderId":8}', "--id", "order-paid-8");
    expect(again.decisions).toMatchObject([{ kind: "duplicate-event", runId: sent.decisions[0].runId }]);
  });

  test("send reads its data from standard input and from a file, and keeps an id as long as asked", async () => {
    const { terminal, folder, platform } = await shop({ input: '{"orderId":11}' });
    expect((await terminal.json("send", "order/paid", "-")).decisions).toMatchObject([{ key: "11" }]);
    writeFileSync(join(folder, "order.json"), '{"orderId":12}');
    expect((await terminal.json("send", "order/paid", "@order.json")).decisions).toMatchObject([{ key: "12" }]);
    await terminal.json("send", "trial/started", "{}", "--id", "t", "--window", "2h");
    platform.clock.advance(3 * hour);
    expect((await terminal.json("send", "trial/started", "{}", "--id", "t")).decisions).toMatchObject([
      { kind: "started" },
    ]);
  });

  test("an event that reaches no function is stored and said so", async () => {
    const { terminal } = await shop();
    expect(await terminal.run("send", "nobody/listens")).toBe(0);
    expect(terminal.written.err).toContain("No function has a trigger");
  });

  test("rerun and cancel", async () => {
    const { terminal, runId, sleeping } = await shop();
    const { runId: newRun } = await terminal.json("rerun", runId);
    expect(await terminal.json("run", newRun)).toMatchObject({ rerunOf: runId, state: "queued" });
    expect(await terminal.json("cancel", sleeping, "--reason", "not wanted")).toEqual({ cancelled: true });
    expect(await terminal.json("run", sleeping)).toMatchObject({
      state: "cancelled",
      error: { message: "not wanted" },
    });
    expect(await terminal.run("cancel", sleeping)).toBe(1);
    expect(terminal.written.err).toContain("had already ended");
  });

  test("many runs by --where: counted first, done once however often it is asked for, with one entry in the audit", async () => {
    const { idem, terminal, stop, platform } = storeWorld();
    idem.createFunction({ id: "charge", retries: 0, idempotency: "event.data.order" }, { event: "order/paid" }, () => {
      throw new Error("503");
    });
    await idem.start();
    for (let order = 1; order <= 5; order++) await idem.send({ name: "order/paid", data: { order } });
    await idem.idle();
    await stop();
    platform.clock.advance(1);
    const many = ["rerun", "--where", "event.data.order > 2", "--function", "charge", "--state", "failed"];
    const counted = { matchedCount: 3, doneCount: 3, leftOut: [], failures: [] };
    expect(await terminal.json(...many, "--since", "1h", "--dry-run")).toMatchObject({ ...counted, isDryRun: true });
    expect(await terminal.json("runs")).toHaveLength(5);
    const { id, ...done } = await terminal.json(...many, "--reason", "the gateway is back");
    expect(done).toMatchObject({ ...counted, isDryRun: false });
    expect(await terminal.json("runs")).toHaveLength(8);
    platform.clock.advance(1);
    expect(await terminal.json(...many)).toMatchObject({
      doneCount: 0,
      leftOut: [{ why: "at-work-later", count: 3 }],
    });
    const entries = await terminal.json("audit");
    expect(entries.filter(({ subject }: any) => subject === id)).toMatchObject([
      { action: "start-bulk", reason: "rerun: the gateway is back" },
    ]);
    expect(await terminal.json("cancel", "--where", "true", "--key", "3", "--function", "charge")).toMatchObject({
      doneCount: 1,
    });
    expect(await terminal.json("release", "--where", "true", "--dry-run")).toMatchObject({
      doneCount: 0,
      leftOut: [{ why: "not-parked", count: 8 }],
    });
    expect(await terminal.json("release", "--keys", "--where", "true", "--state", "failed")).toMatchObject({
      doneCount: 2,
      leftOut: [{ why: "key-elsewhere", count: 3 }],
    });
    for (const wrong of [
      ["rerun"],
      ["rerun", "--state", "failed"],
      ["rerun", id, "--where", "true"],
      ["cancel", "--where", "true", "--key", "3"],
      ["cancel", "--where", "true", "--since", "soon"],
      ["release", id, "--keys"],
    ]) {
      expect(await terminal.run(...wrong), wrong.join(" ")).not.toBe(0);
    }
  });

  test("rerun from a step, and what it does not take", async () => {
    const { terminal, runId } = await shop();
    const { runId: newRun } = await terminal.json("rerun", runId, "--from", "charge-card", "--input", "[1]");
    expect(await terminal.json("run", newRun)).toMatchObject({ rerunOf: runId, rerunFrom: { name: "charge-card" } });
    expect(await terminal.run("rerun", runId, "--from", "nobody")).toBe(1);
    expect(terminal.written.err).toContain("RUN_STEP_UNKNOWN");
    for (const wrong of [
      ["--input", "[1]"],
      ["--from", "charge-card", "--input", "{}"],
      ["--from", "charge-card", "--input", "["],
    ]) {
      expect(await terminal.run("rerun", runId, ...wrong)).toBe(2);
    }
  });

  test("rerun with other data, which has to be about the same thing", async () => {
    const { terminal, runId } = await shop();
    const data = { orderId: 7, mail: "kim@example.org" };
    const { runId: newRun } = await terminal.json("rerun", runId, "--data", JSON.stringify(data));
    expect(await terminal.json("run", newRun)).toMatchObject({ rerunOf: runId, key: "7", events: [{ data }] });
    expect(await terminal.run("rerun", runId, "--data", '{"orderId":8}')).toBe(2);
    expect(terminal.written.err).toContain("RERUN_OTHER_KEY");
    for (const wrong of [
      ["--data", "[1]"],
      ["--data", "{"],
      ["--data", "{}", "--from", "charge-card"],
    ]) {
      expect(await terminal.run("rerun", runId, ...wrong)).toBe(2);
    }
  });

  test("a key is given back with a reason, and the next event starts a run", async () => {
    const { terminal } = await shop();
    expect(await terminal.run("keys", "--release", "7", "--function", "charge")).toBe(2);
    expect(terminal.written.err).toContain("--reason");
    expect(await terminal.run("keys", "--release", "7", "--function", "charge", "--reason", "refunded by hand")).toBe(
      0,
    );
    expect((await terminal.json("send", "order/paid", '{"orderId":7}')).decisions).toMatchObject([{ kind: "started" }]);
    expect(await terminal.run("keys", "--release", "99", "--function", "charge", "--reason", "x")).toBe(1);
  });

  test("prune deletes what is old and ended, counts it first when asked, and keeps what sleeps", async () => {
    const { terminal, platform, sleeping } = await shop();
    platform.clock.advance(40 * dayMs);
    const planned = await terminal.json("prune", "--older-than", "30d", "--dry-run");
    expect(planned.deleted).toEqual({ ...prunedNothing, events: 2, runs: 1, steps: 1, attempts: 1, decisions: 2 });
    expect(await terminal.json("events")).toHaveLength(3);
    const done = await terminal.json("prune", "--older-than", "30d");
    expect(done).toMatchObject({ deleted: planned.deleted, kept: 1 });
    expect(await terminal.json("runs")).toMatchObject([{ id: sleeping }]);
  });
});

describe("backup and restore", () => {
  /** A backup, and what a restore of it to nowhere in particular says about it. */
  async function restoredFrom(terminal: Awaited<ReturnType<typeof shop>>["terminal"]) {
    await terminal.json("backup", "copy.db");
    return terminal.json("restore", "copy.db", "--force");
  }

  test("a backup taken beside a living owner is sound and holds what was committed", async () => {
    const world = storeWorld();
    const { terminal, idem, folder } = world;
    await idem.send({ name: "order/paid", data: { orderId: 1 } });
    expect(await terminal.run("backup", "copy.db")).toBe(0);
    expect(terminal.written.out).toContain("integrity ok");
    await world.stop();
    const other = fakeTerminal({ cwd: folder, env: { IDEM_STORE: "copy.db" } });
    expect(await other.json("events")).toMatchObject([{ name: "order/paid" }]);
    expect(await terminal.run("backup", "copy.db")).toBe(1);
    expect(terminal.written.err).toContain("already exists");
  });

  test("restore puts the backup in the store's place and keeps the old file", async () => {
    const { terminal, folder } = await shop();
    await terminal.json("backup", "copy.db");
    await terminal.json("send", "later/event", "{}");
    expect(await terminal.run("restore", "copy.db")).toBe(1);
    expect(terminal.written.err).toContain("--force");
    const restored = await terminal.json("restore", "copy.db", "--force");
    expect(await terminal.json("events", "--name", "later/event")).toEqual([]);
    const kept = fakeTerminal({ cwd: folder, env: { IDEM_STORE: restored.kept } });
    expect(await kept.json("events", "--name", "later/event")).toHaveLength(1);
    expect(readdirSync(folder).filter((name) => name.includes("restoring"))).toEqual([]);
  });

  test("restore leaves an alert of what is missing, which the doctor names until it is acknowledged", async () => {
    const { terminal, platform } = await shop();
    const { clock: from } = await restoredFrom(terminal);
    platform.clock.advance(60_000);
    await terminal.json("send", "later/event", "{}");
    const to = platform.wallMs();
    const restored = await terminal.json("restore", "copy.db", "--force");
    expect(restored.missing).toEqual({ from, to });
    expect(await terminal.run("doctor", "--json")).toBe(1);
    const { findings } = JSON.parse(terminal.written.out);
    const found = findings.find(({ kind }: any) => kind === "store-rollback");
    expect(found).toMatchObject({ level: "problem", title: expect.stringContaining("restored from a backup") });
    expect(found).toMatchObject({ facts: { from, to, missing: [] } });
    const { alertId } = found.facts;
    expect(found.next).toContain(`idem radar ${alertId} --acknowledge`);
    expect(await terminal.run("radar", alertId)).toBe(0);
    expect(terminal.written.out).toContain("no single write is known to be missing");
    await terminal.json("radar", alertId, "--acknowledge", "--reason", "everything was sent again");
    await terminal.run("doctor", "--json");
    const after = JSON.parse(terminal.written.out).findings;
    expect(after.filter(({ kind }: any) => kind === "store-rollback")).toEqual([]);
    // What a process finds when it opens the store, the restore has said already.
    await terminal.json("send", "after/restore", "{}");
    expect(await terminal.run("radar", "--json")).toBe(0);
    expect(JSON.parse(terminal.written.out)).toMatchObject([{ id: alertId, state: "acknowledged" }]);
  });

  test("restoring a backup that has all that was written leaves no alert", async () => {
    const { terminal } = await shop();
    await terminal.json("send", "some/event", "{}");
    await terminal.json("backup", "copy.db");
    expect(await terminal.json("restore", "copy.db", "--force")).toMatchObject({ missing: null });
    expect(await terminal.json("radar")).toEqual([]);
  });

  test("restore is refused while a process owns the store, and for a file that is no store", async () => {
    const { terminal, folder } = await shop();
    await terminal.json("backup", "copy.db");
    writeFileSync(join(folder, "text.db"), "no database at all");
    expect(await terminal.run("restore", "text.db", "--force")).toBe(1);
    const world = storeWorld();
    await world.idem.send({ name: "a/b" });
    const { terminal: other } = world;
    expect(await other.run("restore", join(folder, "copy.db"), "--force")).toBe(3);
    expect(other.written.err).toContain("in use by the test");
    expect(await other.json("events")).toHaveLength(1);
    await world.stop();
  });
});

describe("mistakes", () => {
  test("the only store in .idem is found; none or two are named, with what to do", async () => {
    const folder = temporaryFolder();
    const terminal = fakeTerminal({ cwd: folder });
    expect(await terminal.run("runs")).toBe(3);
    expect(terminal.written.err).toContain("--store");
    const { terminal: filled } = await shop();
    mkdirSync(join(folder, ".idem"));
    copyFileSync(filled.env("IDEM_STORE")!.slice("sqlite:".length), join(folder, ".idem", "one.db"));
    expect(await terminal.json("runs")).toHaveLength(2);
    copyFileSync(join(folder, ".idem", "one.db"), join(folder, ".idem", "two.db"));
    expect(await terminal.run("runs")).toBe(3);
    expect(terminal.written.err).toContain("one.db, two.db");
  });

  test("a store that is missing, foreign or not a database is refused with 3 and left alone", async () => {
    const folder = temporaryFolder();
    const terminal = fakeTerminal({ cwd: folder });
    for (const args of [["runs"], ["send", "a/b"], ["doctor"]]) {
      expect(await terminal.run(...args, "--store", "sqlite:./none.db")).toBe(3);
      expect(terminal.written.err).toContain("there is no such file");
    }
    expect(existsSync(join(folder, "none.db"))).toBe(false);
    writeFileSync(join(folder, "text.db"), "hello, this is certainly not a database file\n".repeat(50));
    expect(await terminal.run("runs", "--store", "text.db")).toBe(3);
    expect(readFileSync(join(folder, "text.db"), "utf8")).toContain("hello");
    expect(await terminal.run("runs", "--store", "postgres://user:secret@host/db")).toBe(3);
    expect(terminal.written.err).not.toContain("secret");
  });

  test("a store owned by a process without a socket is refused with 3", async () => {
    const world = storeWorld();
    await world.idem.send({ name: "a/b" });
    const sending = world.terminal.run("send", "a/b");
    await world.platform.advance(2_000, async () => {
      for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve));
    });
    expect(await sending).toBe(3);
    expect(world.terminal.written.err).toContain("in use by the test");
    await world.stop();
  });

  test("wrong usage is answered with 2, what was wrong, and where the help is", async () => {
    const { terminal } = await shop();
    const wrong: readonly (readonly [string[], string])[] = [
      [["rnus"], 'Did you mean "runs"'],
      [["--store", "x", "runs"], "Options stand after the command"],
      [["runs", "--nope"], "--nope"],
      [["runs", "--stroe", "x"], "Did you mean --store?"],
      [["runs", "--state", "done"], "must be one of"],
      [["runs", "--limit", "0"], "whole number"],
      [["run"], "idem run <run id>"],
      [["run", "a", "b"], "one word too many"],
      [["send", "a/b", "{not json"], "not JSON"],
      [["send", "inngest/x"], "reserved"],
      [["explain"], "--function and --key"],
      [["prune"], "--older-than"],
      [["prune", "--older-than", "soon"], "soon"],
      [["completion", "tcsh"], "bash, zsh, fish"],
    ];
    for (const [args, words] of wrong) {
      expect([args, await terminal.run(...args)]).toEqual([args, 2]);
      expect(terminal.written.err).toContain(words);
      expect(terminal.written.out).toBe("");
    }
  });

  test("what does not exist is answered with 1", async () => {
    const { terminal } = await shop();
    for (const args of [
      ["run", "none"],
      ["explain", "none"],
      ["rerun", "none"],
      ["cancel", "none"],
    ]) {
      expect([args, await terminal.run(...args)]).toEqual([args, 1]);
      expect(terminal.written.err).toMatch(/There is no run none|Nothing in this environment is known as none/);
    }
  });

  test("stack traces are shown only with IDEM_DEBUG=1", async () => {
    const { terminal, folder, path, platform } = await shop();
    await terminal.run("run", "none");
    expect(terminal.written.err).not.toMatch(/\n\s+at /);
    const debugging = fakeTerminal({ cwd: folder, platform, env: { IDEM_STORE: path, IDEM_DEBUG: "1" } });
    await debugging.run("run", "none");
    expect(debugging.written.err).toMatch(/\n\s+at /);
  });
});
