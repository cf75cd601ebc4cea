import { expect, test } from "vitest";
import { errors } from "../model/errors.ts";
import { ManualClock } from "../platform/manual-clock.ts";
import { startServer } from "../server/start-server.ts";
import { StoreHealth } from "./store-health.ts";

/** A platform whose timers run when the clock is moved. */
function manualTimers() {
  const clock = new ManualClock();
  const timers = new Set<{ readonly at: number; readonly run: () => void }>();
  const advance = async (ms: number) => {
    clock.advance(ms);
    for (const timer of timers) {
      if (timer.at > clock.monoMs()) continue;
      timers.delete(timer);
      timer.run();
    }
    await Promise.resolve();
  };
  const platform = {
    monoMs: () => clock.monoMs(),
    timer: (ms: number, run: () => void) => {
      const timer = { at: clock.monoMs() + ms, run };
      timers.add(timer);
      return { cancel: () => void timers.delete(timer) };
    },
  };
  return { platform, advance };
}

test("a store that takes an operation is well, one that refuses it is not, and one that is silent is given two seconds", async () => {
  const { platform, advance } = manualTimers();
  let asked = 0;
  let answer: () => Promise<unknown> = async () => null;
  const health = new StoreHealth(platform, "default", async () => ({
    tick: async () => {
      asked++;
      return (await answer()) as never;
    },
  }));
  expect(await health.check()).toEqual({ isWell: true });
  answer = async () => {
    throw errors.STORE_UNAVAILABLE({ why: "/var/secret/shop.db: disk I/O error" });
  };
  const refused = await health.check();
  expect(refused).toEqual({ isWell: false, why: "the store does not take operations", code: "STORE_UNAVAILABLE" });
  let release = (_: unknown) => {};
  answer = () =>
    new Promise((resolve) => {
      release = resolve;
    });
  asked = 0;
  const checks = [health.check(), health.check()];
  await advance(1_999);
  checks.push(health.check());
  await advance(1);
  for (const silent of await Promise.all(checks))
    expect(silent).toMatchObject({ isWell: false, code: "STORE_UNAVAILABLE" });
  // A look while it is silent is answered at once, and asks it nothing more.
  const again = health.check();
  await advance(0);
  expect(await again).toMatchObject({ isWell: false });
  expect(asked).toBe(1);
  release(null);
  await new Promise((resolve) => setImmediate(resolve));
  answer = async () => null;
  expect(await health.check()).toEqual({ isWell: true });
});

test("however many look at once, the next is told the last answer and does not wait", async () => {
  const { platform } = manualTimers();
  let answer = async (): Promise<unknown> => null;
  const health = new StoreHealth(platform, "default", async () => ({ tick: async () => (await answer()) as never }));
  expect(await health.check()).toEqual({ isWell: true });
  let release = (_: unknown) => {};
  answer = () =>
    new Promise((resolve) => {
      release = resolve;
    });
  const waiting = Array.from({ length: 1_000 }, () => health.check());
  expect(await health.check()).toEqual({ isWell: true });
  release(null);
  expect(new Set((await Promise.all(waiting)).map(({ isWell }) => isWell))).toEqual(new Set([true]));
});

test("a server whose store is gone says so with 503, and that it lives with 200", async () => {
  const silent = { debug() {}, info() {}, warn() {}, error() {} };
  const server = await startServer(
    { mode: "dev", store: "sqlite::memory:", port: 0, discovery: false },
    { logger: silent },
  );
  const ask = async (path: string) => {
    const response = await fetch(`${server.origin}${path}`);
    return [response.status, await response.json()];
  };
  expect(await ask("/health")).toEqual([200, { status: 200, message: "OK" }]);
  const engine = await server.world.engine("default");
  await engine.store.close();
  expect(await ask("/health")).toEqual([
    503,
    expect.objectContaining({
      status: 503,
      code: expect.any(String),
      reasons: [expect.objectContaining({ part: "store" })],
    }),
  ]);
  expect(await ask("/health/live")).toEqual([200, { status: 200, message: "OK" }]);
  await server.close({ graceMs: 0 }).catch(() => {});
});
