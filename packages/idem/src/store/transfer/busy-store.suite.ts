// A SQLite store with something in every table, made by running things, and left by a process that was killed in the middle.
import { join } from "node:path";
import { temporaryFolder } from "../../cli/store-world.ts";
import { ManualPlatform } from "../../platform/manual-platform.ts";
import { Idem } from "../../sdk/client.ts";
import { openInlineStore } from "../sqlite/inline-store.ts";
import { loadMigrations } from "../sqlite/migrations.ts";
import type { Store } from "../store.ts";

export const silent = { debug() {}, info() {}, warn() {}, error() {} };

/** Characters that PostgreSQL's text cannot hold, and those they are written with there. */
export const oddId = "order\u0000 7 \uFFFF0 \uFFFF";

export function shopOn(store: Store, platform: ManualPlatform) {
  const idem = new Idem({ id: "shop", store, platform, logger: silent });
  const entered: string[] = [];
  const enter = (what: string) => void entered.push(what);
  const never = new Promise<void>(() => {});
  let isKilled = false;
  const on = (event: string) => ({ event });

  idem.createFunction({ id: "pay", idempotency: "event.data.order" }, on("order/paid"), ({ event, step }) =>
    step.run("charge", ({ attempt }) => {
      enter(`charge ${String(event.data.order)}`);
      if (attempt === 1 && event.data.fails === true) throw new Error("declined");
      return { receipt: event.data.order };
    }),
  );
  idem.createFunction({ id: "nap" }, on("nap/begun"), async ({ step, logger }) => {
    logger.debug("goes to sleep");
    await step.run("before", () => enter("before nap"));
    await step.sleep("night", "8h");
    await step.run("after", () => enter("after nap"));
  });
  idem.createFunction(
    { id: "wait", cancelOn: [{ event: "order/cancelled", match: "data.order" }] },
    on("wait/begun"),
    async ({ step }) => {
      const paid = await step.waitForEvent("paid", { event: "order/confirmed", match: "data.order", timeout: "2d" });
      enter(`confirmed ${String(paid?.data.order)}`);
    },
  );
  idem.createFunction({ id: "hear" }, on("hear/begun"), async ({ step }) => {
    const heard = await step.waitForSignal("word", { signal: "the-word", timeout: "2d" });
    enter(`heard ${String((heard as { data?: unknown } | null)?.data)}`);
  });
  idem.createFunction({ id: "child" }, on("child/begun"), async ({ step }) => {
    await step.sleep("short", "1h");
    return "from the child";
  });
  idem.createFunction({ id: "parent" }, on("parent/begun"), async ({ step }) => {
    enter(`parent got ${await step.invoke("ask", { function: "shop-child", data: {} })}`);
  });
  idem.createFunction({ id: "nightly" }, { cron: "0 3 * * *" }, () => enter("nightly"));
  idem.createFunction({ id: "calm", debounce: { period: "1h" } }, on("calm"), ({ event }) =>
    enter(`calm ${event.data.n}`),
  );
  idem.createFunction({ id: "lot", batchEvents: { maxSize: 3, timeout: "6h" } }, on("lot"), ({ events }) =>
    enter(`lot of ${events.length}`),
  );
  idem.createFunction(
    { id: "strict", idempotency: { key: "event.data.order", onMissing: "reject" } },
    on("strict"),
    () => 1,
  );
  idem.createFunction({ id: "seldom", rateLimit: { limit: 1, period: "1d" } }, on("seldom"), () => enter("seldom"));
  idem.createFunction({ id: "spaced", throttle: { limit: 1, period: "1h" } }, on("spaced"), () => enter("spaced"));
  idem.createFunction({ id: "single", singleton: { mode: "skip" } }, on("single"), ({ step }) =>
    step.sleep("nap", "8h"),
  );
  idem.createFunction(
    { id: "long", concurrency: [{ limit: 1, key: "event.data.account" }, { limit: 5 }] },
    on("long"),
    ({ event, step }) =>
      step.run("work", () => {
        enter(`long ${event.data.n}`);
        return isKilled ? "done" : never;
      }),
  );
  idem.createFunction({ id: "stopped" }, on("stopped"), () => enter("stopped"));
  return {
    idem,
    entered,
    /** From here on work that never ended for the process before ends. */
    afterKill: () => {
      isKilled = true;
    },
  };
}

export async function busyStore() {
  const path = join(temporaryFolder(), "shop.db");
  const platform = new ManualPlatform();
  const open = () =>
    openInlineStore({ path, migrations: loadMigrations(), clock: platform, owner: "the test", synchronous: "NORMAL" });
  const store = open();
  const { idem } = shopOn(store, platform);
  const turns = async () => {
    for (let i = 0; i < 30; i++) await new Promise<void>((resolve) => platform.soon(resolve));
  };
  await idem.start();
  const first = await idem.send({ name: "order/paid", id: oddId, data: { order: 7, note: oddId } });
  await idem.send({ name: "order/paid", data: { order: 8, fails: true } });
  for (const name of ["nap/begun", "hear/begun", "child/begun", "parent/begun", "calm", "lot", "lot", "strict"]) {
    await idem.send({ name, data: { n: 1 } });
  }
  await idem.send({ name: "wait/begun", data: { order: 7 } });
  await platform.advance(60_000, turns);
  // A day's tick, a full batch, a second asking, a limit of each kind, a rerun.
  await platform.advance(4 * 3_600_000, turns);
  // A key that is given back and runs again, and the counts of all that.
  await idem.send({ name: "order/paid", data: { order: 9 } });
  await turns();
  await store.release({ env: "default", scope: "fn:shop-pay", key: "9", fence: null, reason: "test" });
  await idem.send({ name: "order/paid", data: { order: 9 } });
  await turns();
  await store.count({ env: "default", until: platform.wallMs() + 1, max: 10_000 });
  await idem.send([{ name: "lot" }, { name: "lot" }, { name: "lot" }]);
  const again = await idem.send({ name: "order/paid", data: { order: 7 } });
  for (const name of [
    "seldom",
    "seldom",
    "spaced",
    "spaced",
    "single",
    "single",
    "calm",
    "parent/begun",
    "lot",
    "lot",
    "lot",
  ]) {
    await idem.send({ name, data: { n: 2 } });
  }
  const chosen = { env: "default", kind: "search", name: "sought", value: '["event.data.n"]' };
  await store.set({ ...chosen, over: null, reason: "test" });
  await idem.send({ name: "sought", data: { n: "a \u0000 needle" } });
  const source = { env: "default", kind: "webhook-source", name: "stripe", value: `{"note":"a \u0000 note"}` };
  await store.set({ ...source, over: null, reason: "test" });
  const pair = { entity: `"a \u0000 placement"`, firstId: "r1", laterId: "r2", at: 1 };
  const alert = {
    id: "a1",
    kind: "rule",
    fn: "",
    about: "rule:test",
    subject: "s",
    facts: '{"of":"run"}',
    pairs: [pair],
  };
  const said = { stepId: "", kind: "inngest.score", op: "merge", value: '{"helpful":{"value":1}}' } as const;
  const [run] = await store.reads.runs("default", { limit: 1 });
  await store.annotate({ env: "default", runId: run!.id, changes: [said] });
  await store.raise({ env: "default", alerts: [alert] });
  await idem.functions.pause("stopped", { reason: "a \u0000 reason" });
  await idem.send({ name: "stopped" });
  await turns();
  await idem.runs.rerun(first.decisions[0]!.runId!);
  await platform.advance(1_000, turns);
  for (const n of [1, 2, 3]) await idem.send({ name: "long", data: { n, account: n === 3 ? "b" : "a" } });
  await turns();
  // Killed: nothing is handed back.
  await store.close();
  return {
    path,
    platform,
    turns,
    open,
    firstRun: first.decisions[0]!.runId!,
    againKind: again.decisions[0]!.kind,
  };
}
