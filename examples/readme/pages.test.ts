// What the pages say their examples do, they do; the tables of docs/functions.md name every tool and option there is. The tests of
// docs/testing.md and docs/agents.md run here as they stand there.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Idem } from "idem";
import { testIdem } from "idem/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import "./agents.ts";
import "./testing.ts";
import { approve, billed, billing, clock, decide, did, idem, refused, shop, watch } from "./functions.ts";
import * as comingFrom from "./quickstarts/coming-from.ts";

const page = readFileSync(fileURLToPath(new URL("../../docs/functions.md", import.meta.url)), "utf8");

/** The words in the first cells of the table under a line that begins so. */
const firstCells = (head: string): string[] => {
  const [, rows] = page.split(`\n| ${head} |`);
  const table = rows!.split("\n\n")[0]!.split("\n").slice(2);
  return table.flatMap((row) => [...row.split("|")[1]!.matchAll(/`([\w.]+)[^`]*`/g)].map(([, word]) => word!));
};

const runOf = async (name: string, data: Record<string, unknown>): Promise<string> => {
  const { decisions } = await idem.send({ name, data });
  await idem.idle();
  return decisions[0]?.runId ?? "";
};
const outputOf = async (runId: string) => (await idem.runs.wait(runId)).output;

describe("docs/functions.md", () => {
  beforeAll(() => idem.start());
  afterAll(() => Promise.all([idem.stop(), shop.stop(), billing.stop()]));
  beforeEach(() => {
    did.length = 0;
  });

  test("a month is billed once for each customer, its receipt two days later", async () => {
    await outputOf(await runOf("month/over", { month: "2030-02" }));
    const again = await idem.send({ name: "month/closed", data: { month: "2030-02", customer: "ann", amount: 10 } });
    expect(again.decisions[0]!.kind).toBe("duplicate-key");
    await clock.advance("2d");
    expect([...did].sort()).toEqual([
      "charge ann",
      "charge bob",
      expect.stringContaining("mail ann: receipt"),
      expect.stringContaining("mail bob: receipt"),
      expect.stringContaining("mail cleo: receipt"),
    ]);
  });

  test("each trigger starts the function, where its filter is true", async () => {
    await runOf("customer/joined", { customer: "eva" });
    await runOf("customer/invited", { customer: "fay", accepted: false });
    expect(did).toEqual(["mail eva: welcome"]);
  });

  test("a step has its arguments, its key and its attempt", async () => {
    expect(await outputOf(await runOf("invoice/wanted", { customer: "ann" }))).toBe("ann.pdf");
    expect(did).toEqual([expect.stringMatching(/^upload ann\.pdf, attempt 1, key of \d\d+ characters$/)]);
  });

  test("a trial sleeps, by duration and until an instant", async () => {
    await runOf("trial/started", { customer: "gil", endsAt: clock.now() + 14 * 86_400_000 });
    await clock.advance("13d");
    expect(did.filter((each) => each.includes("gil"))).toEqual(["mail gil: your trial ends soon"]);
    await clock.advance("1d");
    expect(did).toContain("mail gil: your trial is over");
  });

  test("a payment is waited for: one that is too small does not count, and nobody is reminded in vain", async () => {
    const paid = await runOf("invoice/sent", { invoice: 1, customer: "ann", amount: 10 });
    const unpaid = await runOf("invoice/sent", { invoice: 2, customer: "bob", amount: 10 });
    await runOf("invoice/paid", { invoice: 1, amount: 9 });
    await runOf("invoice/paid", { invoice: 1, amount: 10 });
    expect(await outputOf(paid)).toBe(10);
    await clock.advance("14d");
    expect(await outputOf(unpaid)).toBe("reminded");
    expect(did.filter((each) => each.includes("please pay"))).toEqual(["mail bob: please pay 2"]);
  });

  test("a signal reaches the one run that waits for it", async () => {
    const run = await runOf("refund/asked", { charge: "ch_1" });
    expect(await approve("ch_2")).toEqual({ runId: null });
    expect(await approve("ch_1")).toEqual({ runId: run });
    expect(await outputOf(run)).toBe("refunded");
  });

  test("an invoked function's output is the step's value", async () => {
    expect(await outputOf(await runOf("quote/asked", { amount: 100 }))).toBe(120);
  });

  test("a request that changes something carries the step's key", async () => {
    expect(await outputOf(await runOf("partner/tell", {}))).toEqual({ key: expect.stringMatching(/\S{20}/) });
  });

  test("steps side by side, and the winner of a race", async () => {
    const run = await runOf("statement/wanted", { customer: "ann", months: ["01", "02"] });
    await runOf("statement/read", { customer: "ann" });
    expect(await outputOf(run)).toEqual({ parts: [["ch_1"], [], "01", "02"], isRead: true });
  });

  test("a failed step is tried again, not before it may be, or not at all", async () => {
    const limited = await runOf("usage/stale", { url: "limited" });
    did.push("the limit is over");
    await clock.advance("119s");
    expect((await idem.runs.get(limited))!.state).toBe("waiting");
    await clock.advance("1s");
    expect(await outputOf(limited)).toBe("pulled");
    expect(await outputOf(await runOf("usage/stale", { url: "gone" }))).toBe("given up");
    expect(did.at(-1)).toBe("mail ops: pull: the partner closed this account");
  });

  test("onFailure is told of a failure, onCancel of a cancellation", async () => {
    await runOf("order/placed", { order: 1, customer: "ann" });
    await runOf("order/placed", { order: 2, customer: "bob" });
    await runOf("order/withdrawn", { order: 2 });
    await clock.advance("1h");
    expect(did).toEqual([
      expect.stringMatching(/^mail bob: .*order\/withdrawn/),
      expect.stringMatching(/^mail ann: card of ann declined \(run \d+\)$/),
    ]);
  });

  test("the waits after failed attempts are those of the table, and up to 30 s more", async () => {
    const [, row] = /^\| wait \|(.*)\|$/m.exec(page)!;
    const unit = { s: 1_000, min: 60_000, h: 3_600_000 } as const;
    const table = row!.split("|").map((cell) => {
      const [count, name] = cell.trim().split(" ");
      return Number(count) * unit[name as keyof typeof unit];
    });
    const world = testIdem();
    const at: number[] = [];
    world.idem.createFunction({ id: "failing", retries: 11 }, { event: "go" }, async ({ step }) =>
      step.run("fail", () => {
        at.push(world.clock.now());
        throw new Error("again");
      }),
    );
    await world.idem.start();
    await world.idem.send({ name: "go" });
    await world.clock.advanceToEnd();
    await world.idem.stop();
    expect(at).toHaveLength(12);
    for (const [i, wait] of [...table, table.at(-1)!].entries()) {
      expect(at[i + 1]! - at[i]!).toBeGreaterThanOrEqual(wait);
      expect(at[i + 1]! - at[i]!).toBeLessThan(wait + 30_000);
    }
  });

  test("middleware adds to what handlers receive, hears of steps, and stamps what is sent", async () => {
    await billing.start();
    const { ids, decisions } = await billing.send({ name: "year/over" });
    await billing.runs.wait(decisions[0]!.runId!);
    expect(did).toEqual(["audit: opened", "close-books close done"]);
    expect((await billing.events.get(ids[0]!))!.name).toBe("year/over");
  });

  test("what was sent is decided, watched, waited for and cancelled", async () => {
    expect(billed).toMatchObject({ kind: "started", function: "bill-customer", key: '"2030-01/cleo"' });
    const run = await runOf("month/closed", { month: "2030-03", customer: "ann", amount: 1 });
    expect(await watch(run)).toMatchObject({ state: "waiting", steps: ["charge", "let-it-settle"] });
    await clock.advance("2d");
    expect(await decide(run)).toEqual({ charge: "ch_ann" });
  });

  test("an event that does not fit its schema is refused with its path", async () => {
    await expect(refused).rejects.toMatchObject({ code: "EVENT_SCHEMA", facts: { path: "data.total" } });
  });

  test("its tables name every option of a function, of a key and of a client, and every step tool", async () => {
    const known = (call: () => unknown): readonly string[] => {
      try {
        call();
      } catch (error) {
        return (error as { facts: { known: readonly string[] } }).facts.known;
      }
      return [];
    };
    const odd = { nonsense: 1 } as object;
    const { idem: other } = testIdem();
    const ofFunction = known(() => other.createFunction({ id: "f", ...odd }, { event: "e" }, () => null));
    const ofKey = known(() =>
      other.createFunction({ id: "f", idempotency: { key: "1", ...odd } }, { event: "e" }, () => null),
    );
    const ofClient = known(() => new Idem({ id: "c", ...odd }));
    expect(firstCells("option | default | means").sort()).toEqual([...ofFunction].sort());
    expect(firstCells("field | default | means").sort()).toEqual([...ofKey].sort());
    const keys = ["eventKey", "signingKey", "signingKeyFallback"];
    expect([...firstCells("option of `new Idem` | default | means"), ...keys].sort()).toEqual([...ofClient].sort());
    for (const key of keys) expect(page).toContain(`\`${key}\``);

    let tools: string[] = [];
    other.createFunction({ id: "tools" }, { event: "tools" }, ({ step }) => {
      tools = Object.keys(step);
    });
    await other.start();
    await other.send({ name: "tools" });
    await other.idle();
    await other.stop();
    const listed = firstCells("tool | gives | the outcome is").map((name) => name.replace("step.", ""));
    expect(tools.length).toBeGreaterThan(8);
    expect(listed.filter((name) => name !== "signal").sort()).toEqual(tools.sort());
  });
});

test("docs/quickstarts/coming-from.md: each of them does what it did there", async () => {
  const { idem: moved, clock: time, did: done } = comingFrom;
  await moved.start();
  const [welcome, sync, order, checkout] = (
    await moved.send([
      { name: "user/joined", data: { user: "ann" } },
      { name: "account/changed", data: { account: "acme" } },
      { name: "order/placed", data: { order: 7 } },
      { name: "cart/paid", data: { order: 8 } },
    ])
  ).decisions.map(({ runId }) => runId!);
  await moved.idle();
  await moved.sendSignal({ signal: "order-7" });
  await time.advance("1d");
  await moved.send({ name: "order/shipped", data: { order: 8 } });
  expect((await moved.runs.wait(order!)).output).toEqual({ paid: "ch_7_true", approved: true });
  expect((await moved.runs.wait(checkout!)).output).toEqual({ paid: "ch_8_true", shipped: true });
  for (const run of [welcome!, sync!]) expect((await moved.runs.wait(run)).state).toBe("completed");
  expect(done).toEqual(expect.arrayContaining(["ann: welcome", "acme: synced"]));
  await moved.stop();
});
