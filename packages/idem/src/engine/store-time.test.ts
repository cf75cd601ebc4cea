import { expect, test } from "vitest";
import { ManualClock } from "../platform/manual-clock.ts";
import { MemoryStore } from "../store/memory/store.ts";
import { testIdem } from "../testing/test-idem.ts";
import { StoreTime } from "./store-time.ts";

/** A store and a node that hears of its time by answers which take `there` and `back`. */
function world() {
  const store = new ManualClock(50_000);
  const node = new ManualClock(9_999_999);
  const time = new StoreTime(node);
  const pass = (ms: number) => {
    store.advance(ms);
    node.advance(ms);
  };
  const ask = (there: number, back: number) => {
    const asked = node.monoMs();
    pass(there);
    const now = store.wallMs();
    pass(back);
    time.note(asked, now);
  };
  return { store, time, pass, ask };
}

test("a time is planned from a bound that is never behind the store's clock, and judged by one that is never ahead of it", () => {
  const { store, time, pass, ask } = world();
  for (const [there, back] of [
    [300, 2_000],
    [0, 0],
    [700, 1],
    [1, 700],
  ] as const) {
    ask(there, back);
    for (let i = 0; i < 5; i++, pass(97)) {
      expect(time.now()).toBeGreaterThanOrEqual(store.wallMs());
      expect(time.reached()).toBeLessThanOrEqual(store.wallMs());
    }
  }
});

test("what the store called due has been reached, however late an older answer arrives", () => {
  const { store, time, pass } = world();
  const older = store.wallMs();
  pass(500);
  time.note(0, store.wallMs());
  const due = store.wallMs();
  pass(40);
  time.note(0, older);
  expect(time.reached()).toBe(due + 40);
});

test("while the store's clock stands still a wait is counted from the last time it was heard", () => {
  const { store, time, pass } = world();
  time.note(0, store.wallMs());
  const stands = store.wallMs();
  pass(10_000);
  time.note(10_000, stands);
  pass(100);
  expect(time.reached()).toBe(stands + 100);
});

test("the first event of a process whose clock is an hour ahead is dated by the store's clock", async () => {
  const clock = new ManualClock();
  const { idem, clock: own } = testIdem({ store: new MemoryStore(clock) });
  own.stepWall(3_600_000);
  const { ids } = await idem.send({ name: "a/b", data: {} });
  expect((await idem.events.get(ids[0]!))!.ts).toBe(clock.wallMs());
});
