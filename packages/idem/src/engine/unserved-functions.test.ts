import { expect, onTestFinished, test } from "vitest";
import type { Platform } from "../platform/platform.ts";
import type { Idem } from "../sdk/client.ts";
import { sharedStore } from "../testing/shared-store.suite.ts";
import { testIdem } from "../testing/test-idem.ts";

function nodes() {
  const world = testIdem<any>();
  const { platform } = world.idem as unknown as { platform: Platform };
  const { handle } = sharedStore(platform);
  const warned: string[] = [];
  const logger = { debug() {}, info() {}, warn: (text: string) => void warned.push(text), error() {} };
  const node = (id: string, define: (idem: Idem<any>) => void, isWatched = false) => {
    const log = isWatched ? { logger, logStyle: "lines" as const } : {};
    const idem = world.client({ id, store: handle().store, ...log });
    define(idem);
    onTestFinished(() => idem.stop({ grace: 0 }));
    return idem;
  };
  return { clock: world.clock, platform, node, warned };
}

const mail = (idem: Idem<any>) => void idem.createFunction({ id: "mail" }, { event: "user/joined" }, () => "mailed");
const orders = (count: number) => Array.from({ length: count }, () => ({ name: "order/paid" }));

test.each([
  ["without a limit", {}],
  ["with a limit", { concurrency: 2 }],
])(
  "a node warns within ten seconds of due runs of a function %s that no node has, rarely again, and no longer once a node has it",
  async (_, options) => {
    const { clock, node, warned } = nodes();
    await node("crm", mail, true).start();
    const shop = node("shop", (idem) => {
      idem.createFunction({ id: "bill", ...options }, { event: "order/paid" }, () => "billed");
    });
    await shop.send(orders(13));
    await clock.tick("10s");
    expect(warned).toEqual([
      'idem: due runs wait, no node takes them function="shop-bill" dueRuns=13 env=default: start a node that has the function, list its old id in "was" if it was renamed, or cancel the runs (idem cancel)',
    ]);
    await clock.tick("9m");
    expect(warned).toHaveLength(1);
    await clock.tick("2m");
    expect(warned).toHaveLength(2);
    await shop.start();
    await clock.tick("20m");
    expect(warned).toHaveLength(2);
  },
);

test("a run whose sleep is over is warned of, too", async () => {
  const { clock, node, warned } = nodes();
  const shop = node("shop", (idem) => {
    idem.createFunction({ id: "remind" }, { event: "order/paid" }, ({ step }) => step.sleep("a while", "60s"));
  });
  await shop.start();
  await shop.send(orders(1));
  await clock.tick("1s");
  await shop.stop();
  await node("crm", mail, true).start();
  await clock.tick("55s");
  expect(warned).toEqual([]);
  await clock.tick("15s");
  expect(warned).toEqual([expect.stringContaining('function="shop-remind" dueRuns=1')]);
});

test.each([
  ["works through a backlog", { concurrency: 1 }, 20],
  ["spaces its starts", { throttle: { limit: 1, period: "20s" } }, 4],
])("a function of another node that %s is not warned of", async (_, options, count) => {
  const { clock, platform, node, warned } = nodes();
  await node("crm", mail, true).start();
  const shop = node("shop", (idem) => {
    const charge = () => new Promise<void>((resolve) => platform.timer(2_000, resolve));
    idem.createFunction({ id: "bill", ...options }, { event: "order/paid" }, ({ step }) => step.run("charge", charge));
  });
  await shop.start();
  await shop.send(orders(count));
  await clock.tick("90s");
  expect(warned).toEqual([]);
});
