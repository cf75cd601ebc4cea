import { expect, test } from "vitest";
import { compileExpression } from "./expression.ts";
import { chargeCost, costPerMs, turnCostMax, withinCost } from "./metered-cost.ts";
import { turnMeter } from "./turn-meter.suite.ts";
import { Turns, Work } from "./turns.ts";

/** As much as one evaluation may cost. */
const dear = 4 * costPerMs;

test("many that work at once hold the loop for no longer than one", async () => {
  const { turns, costs } = turnMeter();
  const work = async () => {
    for (let i = 0; i < 5; i++) {
      const turn = turns.next(0);
      if (turn !== undefined) await turn;
      chargeCost(dear);
    }
  };
  await Promise.all(Array.from({ length: 50 }, work));
  expect(costs().length).toBeGreaterThanOrEqual(250);
  expect(Math.max(...costs())).toBeLessThanOrEqual(turnCostMax);
});

test("events that arrive do not stand in line behind those who look for something", async () => {
  const { turns } = turnMeter();
  const order: string[] = [];
  const work = async (name: string, isLooking: boolean) => {
    const turn = turns.next(isLooking ? 0 : undefined);
    if (turn !== undefined) await turn;
    chargeCost(dear);
    order.push(name);
  };
  const looking = Array.from({ length: 20 }, (_, i) => work(`looking ${i}`, true));
  await Promise.all([...looking, work("event", false)]);
  expect(order.indexOf("event")).toBeLessThanOrEqual(1);
});

test("of those who look for something whoever has spent least goes first, and all of them come to an end", async () => {
  const { turns } = turnMeter();
  let pieces = 0;
  const look = async (count: number) => {
    const work = new Work(turns, Number.POSITIVE_INFINITY, () => false);
    for (let n = 0; n < count; n++) {
      const turn = work.next();
      if (turn !== undefined) await turn;
      work.do(() => chargeCost(dear));
      pieces++;
    }
  };
  const costly = Array.from({ length: 10 }, () => look(10));
  while (pieces < 50) await new Promise((resolve) => setImmediate(resolve));
  const before = pieces;
  await look(3);
  // Its own three, and one of each turn that was given before it asked.
  expect(pieces - before).toBeLessThanOrEqual(6);
  await Promise.all(costly);
  expect(pieces).toBe(103);
});

test("whoever looks gives way while they are told to, and events that arrive do not", async () => {
  let mayLook = false;
  const turns = new Turns(
    (run) => void setImmediate(run),
    () => mayLook,
  );
  const done: string[] = [];
  const work = async (name: string, spent?: number) => {
    const turn = turns.next(spent);
    if (turn !== undefined) await turn;
    chargeCost(dear);
    done.push(name);
  };
  await work("first");
  const page = work("page", 0);
  await Promise.all([work("event"), work("event")]);
  expect(done).toEqual(["first", "event", "event"]);
  mayLook = true;
  await page;
  expect(done).toEqual(["first", "event", "event", "page"]);
});

test("whoever has spent much comes to an end as well, however many newcomers have spent nothing", async () => {
  const { turns } = turnMeter();
  let isOver = false;
  const page = (async () => {
    const work = new Work(turns, Number.POSITIVE_INFINITY, () => false);
    for (let n = 0; n < 5; n++) {
      const turn = work.next();
      if (turn !== undefined) await turn;
      work.do(() => chargeCost(dear));
    }
    isOver = true;
  })();
  const newcomer = async () => {
    await turns.next(0);
    chargeCost(dear);
  };
  let came = 0;
  for (; !isOver && came < 200; came += 2) {
    // Two in each turn, so that there is always one who has spent less.
    void newcomer();
    void newcomer();
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(isOver).toBe(true);
  expect(came).toBeLessThan(200);
  await page;
});

test("work that costs nothing waits for nobody", () => {
  const { turns } = turnMeter();
  for (let i = 0; i < 100; i++) expect(turns.next()).toBeUndefined();
});

test("a request's work is over when its own cost is spent, whatever others spend", () => {
  const { turns } = turnMeter();
  const [one, other] = [new Work(turns, 100, () => false), new Work(turns, 100, () => false)];
  one.do(() => chargeCost(99));
  other.do(() => chargeCost(1));
  expect([one.isSpent, other.isSpent]).toEqual([false, false]);
  one.do(() => chargeCost(1));
  expect([one.isSpent, other.isSpent]).toEqual([true, false]);
});

test("a request that has waited long enough ends after its next piece, and never before its first", () => {
  const { turns } = turnMeter();
  let isLate = true;
  const work = new Work(turns, 100, () => isLate);
  expect(work.isSpent).toBe(false);
  work.do(() => chargeCost(1));
  expect(work.isSpent).toBe(true);
  isLate = false;
  expect(work.isSpent).toBe(false);
});

test("expressions that share an allowance fail together, and one that computes nothing of the data does not", () => {
  const data = { list: Array.from({ length: 10_000 }, (_, i) => i), id: "a" };
  const walk = compileExpression("event.data.list.exists(x, x == -1)");
  const plain = compileExpression("event.data.id");
  const evaluate = () => walk.evaluate({ event: { data } });
  expect(evaluate()).toEqual({ ok: true, value: false });
  withinCost(turnCostMax, () => {
    expect(evaluate()).toMatchObject({ ok: true });
    expect(evaluate()).toMatchObject({ ok: true });
    expect(evaluate()).toMatchObject({ ok: false, message: "it costs too much to evaluate on this data" });
    expect(plain.evaluate({ event: { data } })).toEqual({ ok: true, value: "a" });
  });
  expect(evaluate()).toEqual({ ok: true, value: false });
});
