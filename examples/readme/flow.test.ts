// What docs/flow.md says its examples do, they do.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { clock, did, idem, summary } from "./flow.ts";

const read = (path: string): string => readFileSync(fileURLToPath(new URL(path, import.meta.url)), "utf8");

beforeAll(() => idem.start());
afterAll(() => idem.stop());
beforeEach(async () => {
  await clock.advance("1h");
  did.length = 0;
});

const send = (name: string, ...data: Record<string, unknown>[]) =>
  idem.send(data.map((each) => ({ name, data: each })));
const kinds = async (...sending: Parameters<typeof send>) => (await send(...sending)).decisions.map(({ kind }) => kind);

test("every code block of docs/flow.md is a region of flow.ts, to the letter and in order", () => {
  const blocks = [...read("../../docs/flow.md").matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code]) => code!.trim());
  const regions = [...read("./flow.ts").matchAll(/\/\/ #region .*\n([\s\S]*?)\/\/ #endregion/g)];
  expect(blocks).toEqual(regions.map(([, code]) => code!.trim()));
});

test("an event that waits says when its run starts", () => {
  expect(summary.slice(-2)).toEqual([
    "now  One event came so far.",
    expect.stringMatching(/Z {2}A run of index-doc starts for it, unless another event comes\.$/),
  ]);
});

test("a limited run is run, whatever its turn", async () => {
  await send("account/changed", { accountId: 1 }, { accountId: 1 }, { accountId: 2 });
  await send("doc/added", {});
  await idem.idle();
  expect([...did].sort()).toEqual(["pull 1", "pull 1", "pull 2", "summarise", "translate"]);
});

test("steps side by side are done, each once", async () => {
  await send("album/uploaded", { photos: ["sea", "sky", "sun"] });
  await idem.idle();
  expect([...did].sort()).toEqual(["resize sea", "resize sky", "resize sun"]);
});

test("a throttle lets a burst begin at once and spaces the rest", async () => {
  await send("order/paid", ...Array.from({ length: 7 }, () => ({ partner: "acme" })));
  await idem.idle();
  expect(did).toHaveLength(5);
  await clock.advance("1s");
  expect(did).toHaveLength(6);
  await clock.advance("1s");
  expect(did).toHaveLength(7);
});

test("a rate limit refuses the surplus with a decision, and only that key's", async () => {
  const [first, second, third] = await kinds("card/failing", { customerId: 1 }, { customerId: 1 }, { customerId: 2 });
  expect([first, second, third]).toEqual(["started", "rate-limited", "started"]);
  await clock.advance("4h");
  expect(await kinds("card/failing", { customerId: 1 })).toEqual(["started"]);
});

test("a debounce runs once, with the last event", async () => {
  for (const version of [1, 2, 3]) {
    await send("doc/edited", { docId: "d-2", version });
    await clock.advance("20s");
  }
  await clock.advance("10s");
  expect(did).toEqual(["index version 3"]);
});

test("a batch carries each key once, and leaves out what its condition leaves out", async () => {
  await send("shop/sold", { saleId: 1, shop: "a", total: 5 }, { saleId: 2, shop: "a", total: 5 });
  await send("shop/sold", { saleId: 1, shop: "a", total: 5 }, { saleId: 3, shop: "a", total: 5_000 });
  await idem.idle();
  expect(did).toEqual(["book 3"]);
  await clock.advance("1m");
  expect(did).toEqual(["book 3", "book 1,2"]);
});

test("a step's limit ends its attempt", async () => {
  const { decisions } = await send("card/authorised", { orderId: 7 });
  await clock.tick("2m");
  const { timeline } = (await idem.runs.get(decisions[0]!.runId!))!;
  expect(timeline.map(({ attempts }) => attempts[0]?.error?.code ?? null)).toEqual([null, "STEP_TIMED_OUT"]);
  await idem.runs.cancel(decisions[0]!.runId!);
});

test("a singleton skips while a run is open, and starts again after it", async () => {
  expect(await kinds("feed/stale", { feed: "x" }, { feed: "x" }, { feed: "y" })).toEqual([
    "started",
    "singleton-skipped",
    "started",
  ]);
  await clock.advance("2m");
  expect(await kinds("feed/stale", { feed: "x" })).toEqual(["started"]);
});

test("priority puts a later run before those that wait", async () => {
  await send("video/uploaded", { plan: "free" }, { plan: "free" }, { plan: "paid" });
  await idem.idle();
  expect(did).toEqual(["render free", "render paid", "render free"]);
});

test("an event cancels the run it matches, and no other", async () => {
  await send("order/placed", { orderId: 1 }, { orderId: 2 });
  await send("order/paid", { orderId: 1, partner: "other" });
  await clock.advance("1d");
  expect(did.filter((what) => what.startsWith("remind"))).toEqual(["remind 2"]);
});

test("a schedule ticks at its time of day", async () => {
  await clock.advance("7d");
  const ticks = did.filter((what) => what.startsWith("report of"));
  expect(ticks).toHaveLength(5);
  for (const tick of ticks) expect(tick).toMatch(/T0[78]:00:00Z$/);
});
