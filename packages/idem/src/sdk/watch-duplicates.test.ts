// The double-invoice story, live: a placement arrives as two events, the function has no key, and people are alerted.

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Platform } from "../platform/platform.ts";
import { deliveriesOf } from "../radar/alert-deliveries.ts";
import { channelKind, makeChannel, newChannelSecret } from "../radar/channels.ts";
import type { Store } from "../store/store.ts";
import { stores } from "../testing/one-run.suite.ts";
import { oneStore } from "../testing/one-store.suite.ts";
import { until, usePostgres } from "../testing/postgres-world.suite.ts";
import { sharedStore } from "../testing/shared-store.suite.ts";
import { testIdem } from "../testing/test-idem.ts";
import type { Idem } from "./client.ts";
import { inside } from "./inside.ts";

const env = "default";
const placements = Array.from({ length: 73 }, (_, i) => 48_000 + i);

function log() {
  const warned: string[] = [];
  return {
    warned,
    logger: { debug() {}, info() {}, error() {}, warn: (line: unknown) => void warned.push(String(line)) },
  };
}

function draftInvoices(idem: Idem, idempotency?: string) {
  const drafts: unknown[] = [];
  idem.createFunction(
    { id: "draft-invoice-from-placement", ...(idempotency === undefined ? {} : { idempotency }) },
    { event: "bullhorn/placement.event" },
    async ({ event, step }) =>
      step.run("create-stripe-draft", () => {
        drafts.push(event.data.placementId);
        return { invoice: `in_${drafts.length}` };
      }),
  );
  return drafts;
}

const placed = (placementId: number, eventType: string) => ({
  name: "bullhorn/placement.event",
  data: { placementId, clientId: 7, eventType, rate: 42.5 },
});

async function week(idem: Idem, pause: (ms: number) => Promise<void>) {
  for (const id of placements) {
    await idem.send(placed(id, "INSERTED"));
    await pause(800);
    await idem.send(placed(id, "UPDATED"));
    await pause(5_000);
  }
}

const alertsOf = (store: Store, state = {}) => store.reads.alerts(env, { limit: 100, ...state });

describe.each(stores)("on %s", (kind) => {
  test("73 placements that arrive twice are one alert with 73 pairs and the line to paste", async () => {
    const { process, store, clock } = oneStore(kind);
    const { warned, logger } = log();
    const { idem } = process({ radar: true, logger });
    const drafts = draftInvoices(idem);
    const heard: unknown[] = [];
    idem.createFunction({ id: "tell-finance" }, { event: "idem/duplicate.detected" }, ({ event }) => {
      heard.push((event as { data: { entity: unknown } }).data.entity);
    });
    await idem.start();
    await week(idem, (ms) => clock.advance(ms));
    await clock.advance(5_000);
    expect(drafts).toHaveLength(146);
    const alerts = await alertsOf(store);
    expect(alerts).toMatchObject([
      {
        kind: "doubled-runs",
        fn: "test-draft-invoice-from-placement",
        subject: "event.data.placementId",
        state: "open",
        pairCount: 73,
      },
    ]);
    expect(JSON.parse(alerts[0]!.facts)).toMatchObject({ of: "run", differs: ["data.eventType"] });
    const pairs = await store.reads.alertPairs(env, alerts[0]!.id, { limit: 100 });
    expect(pairs.map(({ entity }) => Number(entity)).sort()).toEqual(placements);
    expect(warned).toHaveLength(1);
    expect(warned[0]).toContain('idempotency: "event.data.placementId",');
    expect([...heard].sort()).toEqual(placements);
    await idem.stop();
  });

  test("with the key nothing is raised, and the function's old alert is closed", async () => {
    const { process, store, clock } = oneStore(kind);
    const before = process({ radar: true });
    draftInvoices(before.idem);
    await before.idem.start();
    await before.idem.send([placed(1, "INSERTED"), placed(1, "UPDATED")]);
    await clock.advance(5_000);
    expect(await store.reads.openAlertCount(env)).toBe(1);
    await before.idem.stop();
    const { idem } = process({ radar: true });
    const drafts = draftInvoices(idem, "event.data.placementId");
    await idem.start();
    await week(idem, (ms) => clock.advance(ms));
    await clock.advance(5_000);
    expect(drafts).toHaveLength(73);
    expect(await alertsOf(store)).toMatchObject([
      { state: "closed", judgedBy: "idem", note: "the function has a key now: event.data.placementId", pairCount: 1 },
    ]);
    await idem.stop();
  });

  test("an alert is there within five seconds of the second run", async () => {
    const { process, store, clock } = oneStore(kind);
    const { idem } = process({ radar: true });
    draftInvoices(idem);
    await idem.start();
    // The radar looks seldom by now.
    await clock.advance("10m");
    await idem.send(placed(1, "INSERTED"));
    await clock.advance(800);
    await idem.send(placed(1, "UPDATED"));
    await clock.advance(5_000);
    expect(await store.reads.openAlertCount(env)).toBe(1);
    await idem.stop();
  });

  test("what another process left off is gone on with: the first run before the restart, the second after it", async () => {
    const { process, store, clock } = oneStore(kind);
    const first = process({ radar: true });
    draftInvoices(first.idem);
    await first.idem.start();
    await first.idem.send([placed(1, "INSERTED"), placed(1, "UPDATED"), placed(2, "INSERTED")]);
    await clock.advance(5_000);
    const [alert] = await alertsOf(store);
    await store.judge({ env, id: alert!.id, verdict: "close", until: null, by: "ada", note: "seen" });
    await first.idem.stop();
    const { warned, logger } = log();
    const { idem } = process({ radar: true, logger });
    draftInvoices(idem);
    await idem.start();
    await idem.send(placed(2, "UPDATED"));
    await clock.advance(5_000);
    const [next] = await alertsOf(store, { state: "open" });
    // The alert that was sent and closed before is not sent again.
    expect(await store.reads.alertPairs(env, next!.id, { limit: 9 })).toMatchObject([{ entity: "2" }]);
    expect(warned).toHaveLength(1);
    await idem.stop();
  });

  test("a rerun that a person asked for is no duplicate, and neither is another thing of the same client", async () => {
    const { process, store, clock } = oneStore(kind);
    const { idem } = process({ radar: true });
    draftInvoices(idem);
    await idem.start();
    const { decisions } = await idem.send(placed(1, "INSERTED"));
    await clock.advance(1_000);
    await idem.runs.rerun(decisions[0]!.runId!);
    await idem.send(placed(2, "INSERTED"));
    await idem.send(placed(3, "INSERTED"));
    await clock.advance("1m");
    expect(await alertsOf(store)).toEqual([]);
    await idem.stop();
  });

  test("switched off, nothing is looked at", async () => {
    const { process, store, clock } = oneStore(kind);
    const { idem } = process({ radar: false });
    draftInvoices(idem);
    await idem.start();
    await idem.send([placed(1, "INSERTED"), placed(1, "UPDATED")]);
    await clock.advance("1m");
    expect(await alertsOf(store)).toEqual([]);
    expect(await store.reads.radarPosition(env)).toBeNull();
    await idem.stop();
  });
});

test("two nodes over one store raise one alert, tell it once, and the second goes on when the first is lost", async () => {
  const world = testIdem<any>({ radar: true });
  const { platform } = world.idem as unknown as { platform: Platform };
  const shared = sharedStore(platform);
  const { warned, logger } = log();
  const handles = [shared.handle(), shared.handle()];
  const nodes = handles.map(({ store }) => world.client({ store, logger }));
  for (const node of nodes) {
    draftInvoices(node);
    await node.start();
  }
  await nodes[0]!.send([placed(1, "INSERTED"), placed(1, "UPDATED")]);
  await world.clock.tick("6s");
  await nodes[1]!.send([placed(2, "INSERTED"), placed(2, "UPDATED")]);
  await world.clock.tick("6s");
  const { store } = handles[1]!;
  expect(await alertsOf(store)).toMatchObject([{ pairCount: 2 }]);
  expect(warned.filter((line) => line.includes("ran the same thing"))).toHaveLength(1);
  const told = await store.reads.events(env, { name: "idem/duplicate.detected", limit: 9 });
  expect(told).toHaveLength(2);
  handles[0]!.isCut = true;
  await nodes[1]!.send([placed(3, "INSERTED"), placed(3, "UPDATED")]);
  await world.clock.tick("10s");
  expect(await alertsOf(store)).toMatchObject([{ pairCount: 3 }]);
});

describe("on PostgreSQL", () => {
  const open = usePostgres();

  test("two nodes find 73 placements that arrived twice: one alert, each pair told once, and one message to a channel", async () => {
    const { node, column, schema } = await open();
    const nodes = [await node(), await node()];
    const posted: unknown[] = [];
    const receiver = createServer((request, response) => {
      posted.push(request.headers["webhook-id"]);
      request.resume().on("end", () => response.writeHead(204).end());
    });
    await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void receiver.close());
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
    const secret = newChannelSecret((count) => new Uint8Array(count));
    const channel = makeChannel("ops", { kind: "webhook", url }, null, { secret, now: 0 });
    const store = await nodes[0]![inside].keeping().store();
    const setting = { env, kind: channelKind, name: "ops", over: null, reason: "test" };
    await store.set({ ...setting, value: JSON.stringify(channel) });
    for (const each of nodes) {
      draftInvoices(each);
      await each.start();
    }
    await nodes[0]!.send(placements.map((id) => placed(id, "INSERTED")));
    await nodes[1]!.send(placements.map((id) => placed(id, "UPDATED")));
    const counts = () => column(`select pair_count::int from ${schema}.alerts`);
    await until(async () => expect(await counts()).toEqual([73]));
    expect(await column(`select subject from ${schema}.alerts`)).toEqual(["event.data.placementId"]);
    const told = `select count(*)::int from ${schema}.events where name = 'idem/duplicate.detected'`;
    await until(async () => expect(await column(told)).toEqual([73]));
    const carried = `select state from ${schema}.claims where scope = 'alert-channel:ops'`;
    await until(async () => expect(await column(carried)).toEqual(["settled"]));
    const [alert] = await alertsOf(store);
    expect(posted).toEqual([`ops-${alert!.id}`]);
    expect(await deliveriesOf(store.reads, env, alert!)).toMatchObject([{ channel: "ops", state: "sent", tries: 1 }]);
  });
});
