import { readFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, test } from "vitest";
import { dayMs } from "../model/window.ts";
import { storeWorld } from "./store-world.ts";

const minute = 60_000;

/** The seeds' week: 40 placements a day; Bullhorn says INSERTED and, most of the time, UPDATED a moment later. */
async function seedsWeek(twice: (placement: number) => boolean) {
  const world = storeWorld();
  const { idem, advance } = world;
  let drafts = 0;
  idem.createFunction(
    { id: "draft-invoice-from-placement" },
    { event: "bullhorn/placement.event" },
    async ({ event, step }) => {
      const placement = await step.run("fetch-placement", () => ({
        id: event.data.placementId,
        clientStripeId: "cus_1",
      }));
      const draft = await step.run("create-stripe-draft", () => ({ id: `in_${++drafts}`, placementId: placement.id }));
      await step.run("queue-for-approval", () => ({ stripeInvoiceId: draft.id, status: "pending_approval" }));
    },
  );
  await idem.start();
  for (let day = 0; day < 7; day++) {
    for (let i = 0; i < 40; i++) {
      const placementId = 4000 + day * 40 + i;
      const data = { placementId, corporationId: 12, clientId: 300 + (i % 9), recruiterId: 50 + (i % 4) };
      await idem.send({ name: "bullhorn/placement.event", data: { ...data, eventType: "INSERTED" } });
      if (twice(placementId)) {
        await advance(300);
        await idem.send({ name: "bullhorn/placement.event", data: { ...data, eventType: "UPDATED", billRate: 80 } });
      }
      await advance(12 * minute);
    }
    await advance(15 * 60 * minute);
  }
  await idem.idle();
  await world.stop();
  return world;
}

// A week of 560 runs takes a second or two on a busy machine.
describe("what ran twice", () => {
  test("the seeds' week: the doctor names every doubled placement and proposes event.data.placementId", async () => {
    const { terminal, folder } = await seedsWeek(() => true);
    expect(await terminal.run("doctor", "--report", "monday.md")).toBe(1);
    expect(terminal.written.out).toContain(
      '"draft-invoice-from-placement" has run the same thing twice: 280 of 280 placements',
    );
    expect(terminal.written.out).toContain('idempotency: "event.data.placementId"');
    expect(terminal.written.out).toContain("ran twice within 60 s; first 2026-01-01T");

    const note = readFileSync(join(folder, "monday.md"), "utf8");
    expect(note).toContain("## draft-invoice-from-placement: 280 of 280 placements");
    expect(note).toContain('idempotency: "event.data.placementId"');
    expect(note).toMatch(/### placementId 4000\n\n\| {2}\| run 1: \w+ \| run 2: \w+ \|/);
    expect(note).toMatch(/\| step create-stripe-draft \| \{"id":"in\\_1",.*\} \| \{"id":"in\\_2",.*\} \|/);
    const csv = readFileSync(join(folder, "monday.csv"), "utf8").trimEnd().split("\r\n");
    expect(csv).toHaveLength(1 + 280 * 3);
    expect(csv[0]).toMatch(/^function,field,value,first run,/);
    expect(csv[2]).toContain('"{""id"":""in_1"",""placementId"":4000}","{""id"":""in_2"",""placementId"":4000}"');
  });

  test("73 of 280: only the doubled ones are named, with both runs of each", async () => {
    const { terminal } = await seedsWeek((placement) => placement < 4073);
    expect(await terminal.run("doctor", "--json")).toBe(1);
    const report = JSON.parse(terminal.written.out);
    const found = report.findings.find(({ kind }: any) => kind === "doubled-runs");
    expect(found.facts).toMatchObject({ expression: "event.data.placementId", entityCount: 280, doubledCount: 73 });
    for (const { runIds } of found.facts.doubled) expect(runIds).toHaveLength(2);
  });

  test("a week of single events is no problem, and the doctor exits with 0", async () => {
    const { terminal } = await seedsWeek(() => false);
    expect([await terminal.run("doctor"), terminal.written.out]).toEqual([0, expect.stringContaining("No problems")]);
  });

  test("with the proposed key in place nothing is left to find, and what it spared is not a problem", async () => {
    const world = storeWorld();
    const { idem, terminal, advance } = world;
    idem.createFunction({ id: "draft", idempotency: "event.data.placementId" }, { event: "p/e" }, async () => null);
    await idem.start();
    for (const placementId of [1, 2, 3]) {
      for (const eventType of ["INSERTED", "UPDATED"]) {
        await idem.send({ name: "p/e", data: { placementId, eventType } });
        await advance(300);
      }
    }
    await world.stop();
    expect(await terminal.run("doctor")).toBe(0);
  });
});

describe("keys and ids that miss their purpose", () => {
  test("ids with timestamps, sends without an id, one id under two names, and keys that are too broad are all named", async () => {
    const world = storeWorld();
    const { idem, terminal, advance, platform } = world;
    idem.createFunction({ id: "pay", idempotency: "event.data.userId" }, { event: "payment/made" }, async () => null);
    await idem.start();
    for (let i = 0; i < 5; i++) {
      await idem.send({ name: "cart/checkout", id: `checkout-${platform.wallMs()}`, data: { cartId: `c-${i}` } });
      await advance(minute);
    }
    await idem.send({ name: "user/created", id: "account-created-1", data: { userId: 1 } });
    await idem.send({ name: "user/created", data: { userId: 2 } });
    await idem.send({ name: "cart/opened", id: "abc123" });
    await idem.send({ name: "cart/item.deleted", id: "abc123" });
    await idem.send({ name: "payment/made", data: { userId: 9, paymentIntentId: "pi_1", amount: 10 } });
    await idem.send({ name: "payment/made", data: { userId: 9, paymentIntentId: "pi_2", amount: 30 } });
    await idem.idle();
    await world.stop();
    expect(await terminal.run("doctor", "--json")).toBe(1);
    const { findings } = JSON.parse(terminal.written.out);
    const of = (kind: string) => findings.filter((finding: any) => finding.kind === kind);
    expect(of("id-with-timestamp")).toMatchObject([{ facts: { event: "cart/checkout", withId: 5 } }]);
    expect(of("sent-with-and-without-id")).toMatchObject([{ facts: { event: "user/created" } }]);
    expect(of("id-under-two-names")).toMatchObject([{ facts: { id: "abc123" } }]);
    expect(of("key-too-broad")).toMatchObject([
      { facts: { function: "pay", paths: { "event.data.paymentIntentId": 1, "event.data.amount": 1 } } },
    ]);
  });

  test("runs that started because their key was missing are counted", async () => {
    const world = storeWorld();
    const { idem, terminal } = world;
    idem.createFunction({ id: "pay", idempotency: "event.data.orderId" }, { event: "o/p" }, async () => null);
    await idem.start();
    await idem.send({ name: "o/p", data: { order_id: 1 } });
    await idem.idle();
    await world.stop();
    expect(await terminal.run("doctor")).toBe(1);
    expect(terminal.written.out).toContain('1 of 1 run of "pay" started without a key');
  });

  test("a batch is not taken for a run without a key, nor a schedule's ticks for work done twice", async () => {
    const world = storeWorld();
    const { idem, terminal, advance } = world;
    const batchEvents = { maxSize: 2, timeout: "1m" };
    idem.createFunction(
      { id: "pay", idempotency: "event.data.orderId", batchEvents },
      { event: "o/p" },
      async () => null,
    );
    idem.createFunction({ id: "tidy" }, { cron: "* * * * *" }, async () => null);
    await idem.start();
    for (const orderId of ["ord_1", "ord_2", "ord_3", "ord_4"]) await idem.send({ name: "o/p", data: { orderId } });
    await advance(5 * 60_000);
    expect((await idem.runs.list({ function: "tidy" })).length).toBeGreaterThan(3);
    await world.stop();
    expect(await terminal.run("doctor", "--json")).toBe(0);
    expect(JSON.parse(terminal.written.out).findings).toMatchObject([{ kind: "never-verified" }]);
  });
});

describe("health", () => {
  test("a due run that no process takes up is no-worker, and a sleeping one is only noted", async () => {
    const world = storeWorld();
    const { idem, terminal, platform } = world;
    idem.createFunction({ id: "remind" }, { event: "trial/started" }, async ({ step }) => step.sleep("wait", "30d"));
    await idem.start();
    await idem.send({ name: "trial/started" });
    await idem.idle();
    await world.stop();
    platform.clock.advance(dayMs);
    expect(await terminal.run("doctor")).toBe(0);
    expect(terminal.written.out).toContain('"remind": 1 for a time');
    await terminal.json("send", "trial/started");
    expect(await terminal.run("doctor")).toBe(0);
    platform.clock.advance(minute);
    expect(await terminal.run("doctor")).toBe(1);
    expect(terminal.written.out).toContain('No worker takes up "remind": 1 due run');
  });

  test("an open run without a job, and one leased to an unknown worker, are stuck", async () => {
    const world = storeWorld();
    const { idem, terminal, path } = world;
    idem.createFunction({ id: "remind" }, { event: "trial/started" }, async ({ step }) => step.sleep("wait", "30d"));
    await idem.start();
    for (let i = 0; i < 2; i++) await idem.send({ name: "trial/started" });
    await idem.idle();
    const runs = await idem.runs.list();
    await world.stop();
    const db = new Database(path);
    db.prepare("delete from jobs where id = ?").run(runs[0]!.id);
    db.prepare("update jobs set leased_by = 'nobody', due_at = null where id = ?").run(runs[1]!.id);
    db.close();
    expect(await terminal.run("doctor", "--json")).toBe(1);
    const { findings } = JSON.parse(terminal.written.out);
    expect(findings).toContainEqual(
      expect.objectContaining({ kind: "run-without-job", facts: { runIds: [runs[0]!.id] } }),
    );
    expect(findings).toContainEqual(
      expect.objectContaining({ kind: "lease-of-unknown-worker", facts: { runIds: [runs[1]!.id] } }),
    );
  });

  test("a row that no build of the store writes is a problem, although the store's own handle checks none", async () => {
    const world = storeWorld();
    const { idem, terminal, path } = world;
    idem.createFunction({ id: "bill", idempotency: "event.data.n" }, { event: "order/paid" }, () => 1);
    await idem.start();
    await idem.send({ name: "order/paid", data: { n: 1 } });
    await idem.idle();
    await world.stop();
    expect(await terminal.run("doctor")).toBe(0);
    const db = new Database(path);
    db.pragma("ignore_check_constraints = on");
    db.exec("update claims set state = 'lost'; update runs set ended_state = 'done'");
    db.close();
    expect(await terminal.run("doctor", "--json")).toBe(1);
    const { findings } = JSON.parse(terminal.written.out);
    const of = (table: string) => expect.stringContaining(`a row of ${table} is not as it must be`);
    expect(findings).toContainEqual(
      expect.objectContaining({ kind: "integrity", details: expect.arrayContaining([of("claims"), of("runs")]) }),
    );
  });

  test("a damaged file is a problem that the doctor survives", async () => {
    const world = storeWorld();
    const { idem, terminal, path } = world;
    for (let i = 0; i < 50; i++) await idem.send({ name: "a/b", data: { text: "x".repeat(500) } });
    await world.stop();
    const db = new Database(path);
    db.unsafeMode(true);
    db.pragma("writable_schema = on");
    db.prepare(
      "update sqlite_schema set rootpage = (select rootpage from sqlite_schema where name = 'runs') where name = 'runs_by_root'",
    ).run();
    db.close();
    expect(await terminal.run("doctor")).not.toBe(0);
    expect(terminal.written.out + terminal.written.err).toMatch(/damaged|malformed/);
  });
});

test("a run whose code asked for something new in place of a step that was done is found by doctor, the radar and explain", async () => {
  const world = storeWorld();
  const { idem, advance, terminal } = world;
  let id = "charge";
  idem.createFunction({ id: "bill" }, { event: "order/paid" }, async ({ step }) => {
    await step.run(id, () => 1);
    await step.sleep("nap", "1h");
  });
  await idem.start();
  const { decisions } = await idem.send({ name: "order/paid", data: {} });
  await idem.idle();
  id = "charge-card";
  await advance(60 * minute);
  await idem.idle();
  await world.stop();
  expect(await terminal.run("doctor")).toBe(1);
  const found = 'of "bill" did something new in place of a step that was done: step "charge", then "charge-card"';
  expect(terminal.written.out).toContain(found);
  await terminal.run("radar");
  expect(terminal.written.out).toContain(found);
  await terminal.run("explain", decisions[0]!.runId!);
  expect(terminal.written.out).toContain(
    "no longer asked for step charge, which it had begun; it asked for step charge-card, which is new",
  );
  await terminal.run("run", decisions[0]!.runId!);
  expect(terminal.written.out).toContain("diverged");
});

test("acknowledged writes that the store lost are a problem with their ids until an operator acknowledges the alert", async () => {
  const world = storeWorld();
  const { store, terminal, advance } = world;
  const pair = (laterId: string, entity: string, at: number) => ({ entity, firstId: null, laterId, at });
  const pairs = [
    pair("survived:p1", '"process 1 on a"', 1_000),
    pair("acknowledged:p1", '"process 1 on a"', 9_000),
    pair("survived:p2", '"process 2 on b"', 2_000),
    pair("acknowledged:p2", '"process 2 on b"', 8_000),
    ...Array.from({ length: 25 }, (_, n) => pair(`e${String(n).padStart(2, "0")}`, '"event"', 5_000 + n)),
    pair("r1", '"run end"', 4_000),
  ];
  const facts = JSON.stringify({ of: "event", cause: "failover", foundAt: 10_000 });
  const alert = { id: "a1", kind: "store-rollback", fn: "", about: "server 1", subject: "the store", facts, pairs };
  await store.raise({ env: "default", alerts: [alert] });
  // However long ago it was: quiet days close other alerts.
  await world.idem.start();
  for (let day = 0; day < 9; day++) await advance(dayMs);
  await world.stop();
  expect(await terminal.run("doctor")).toBe(1);
  const { out } = terminal.written;
  expect(out).toContain(
    "what was acknowledged from 1970-01-01T00:00:01.000Z to 1970-01-01T00:00:09.000Z may be missing",
  );
  expect(out).toContain("25 events and 1 run end are known to be missing: run end r1, event e00, event e01");
  expect(out).toContain(", and 6 more");
  expect(out).toContain("found by process 1 on a, process 2 on b");
  expect(await terminal.run("radar", "a1", "--mute", "7d", "--reason", "later")).toBe(0);
  expect(await terminal.run("doctor")).toBe(1);
  expect(await terminal.run("radar", "a1", "--acknowledge", "--reason", "senders repeated them")).toBe(0);
  expect(await terminal.run("doctor")).toBe(0);
});

test("asked about an environment only, it tells nothing of the store's size, its file and the secrets of others", async () => {
  const { terminal, idem, stop } = storeWorld();
  idem.createFunction({ id: "pay" }, { event: "a/b" }, () => null);
  await idem.start();
  await stop();
  const examined = async (...options: string[]) => {
    await terminal.run("doctor", "--json", ...options);
    return JSON.parse(terminal.written.out) as {
      bytes: number | null;
      facts: object;
      findings: { kind: string; facts: object }[];
    };
  };
  expect(await terminal.run("webhooks", "add", "ci", "--provider", "github", "--env", "other")).toBe(0);
  const secrets = ({ findings }: { findings: { kind: string; facts: object }[] }) =>
    findings.find(({ kind }) => kind === "secrets-in-clear")?.facts;
  const whole = await examined();
  expect(whole.bytes).toBeGreaterThan(0);
  expect(secrets(whole)).toEqual({ clear: 1 });
  const own = await examined("--environment-only");
  expect(own.bytes).toBeNull();
  expect(Object.keys(own.facts)).toEqual(["functions", "open runs"]);
  expect(secrets(own)).toBeUndefined();
  expect(await terminal.run("webhooks", "add", "pay", "--provider", "github")).toBe(0);
  expect(secrets(await examined("--environment-only"))).toEqual({ clear: 1 });
  await terminal.run("doctor", "--environment-only");
  expect(terminal.written.out).not.toMatch(/\d bytes/);
});
