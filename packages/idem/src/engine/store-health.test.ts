import { expect, onTestFinished, test } from "vitest";
import { errors } from "../model/errors.ts";
import { ManualClock } from "../platform/manual-clock.ts";
import { ManualPlatform } from "../platform/manual-platform.ts";
import type { Platform } from "../platform/platform.ts";
import { startServer } from "../server/start-server.ts";
import type { Store } from "../store/store.ts";
import { sharedStore } from "../testing/shared-store.suite.ts";
import { testIdem } from "../testing/test-idem.ts";
import { StoreHealth } from "./store-health.ts";
import { Telling } from "./telling.ts";

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
    wallMs: () => clock.wallMs(),
    timer: (ms: number, run: () => void) => {
      const timer = { at: clock.monoMs() + ms, run };
      timers.add(timer);
      return { cancel: () => void timers.delete(timer) };
    },
  };
  return { platform, advance };
}

/** A log of lines, each with its level; what follows a line break is a stack. */
function lineLog() {
  const lines: string[] = [];
  const log =
    (level: string) =>
    (...words: unknown[]) => {
      const [text, error] = words;
      lines.push(`${level} ${text}${error === undefined ? "" : `\n${error instanceof Error ? error.stack : error}`}`);
    };
  return { lines, logger: { debug() {}, info() {}, warn: log("warn"), error: log("error") } };
}

function healthOf(platform: Pick<Platform, "timer" | "monoMs" | "wallMs">, tick: () => Promise<unknown>) {
  const { lines, logger } = lineLog();
  const telling = new Telling({ logger, style: "lines", platform });
  const store = { tick: tick as unknown as Store["tick"] };
  const health = new StoreHealth({ platform, telling, env: "default", store: async () => store });
  onTestFinished(() => health.stop());
  return { health, lines };
}

test("a store that takes an operation is well, one that refuses it is not, and one that is silent is given two seconds", async () => {
  const { platform, advance } = manualTimers();
  let asked = 0;
  let answer: () => Promise<unknown> = async () => null;
  const { health } = healthOf(platform, async () => {
    asked++;
    return answer();
  });
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
  const { health } = healthOf(platform, () => answer());
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

const away = () => errors.STORE_UNAVAILABLE({ why: "connect ECONNREFUSED 127.0.0.1:5432" });

/** Health over a store that is away for as long as `isAway` says. */
function awayHealth() {
  const platform = new ManualPlatform();
  const state = { isAway: false, tick: async (): Promise<unknown> => null };
  const { health, lines } = healthOf(platform, async () => {
    if (state.isAway) throw away();
    return state.tick();
  });
  const pass = async (seconds: number) => {
    for (let i = 0; i < seconds; i++) {
      await platform.advance(1_000, () => new Promise((resolve) => platform.soon(resolve)));
    }
  };
  return { health, lines, state, pass };
}

test("an outage is one line when it begins, one each minute and one when the store is back, however much fails in it", async () => {
  const { health, lines, state, pass } = awayHealth();
  state.isAway = true;
  for (let second = 0; second < 150; second++) {
    health.report("heartbeat", away());
    health.report("lease", away());
    await pass(1);
  }
  state.isAway = false;
  await pass(2);
  expect(lines).toEqual([
    'error idem: store unreachable, retrying since=2026-01-01T00:00:00.000Z failedCalls=1 cause="connect ECONNREFUSED 127.0.0.1:5432"',
    expect.stringMatching(/^error idem: store unreachable for 60 s, retrying since=\S+ failedCalls=\d+ cause="[^"]+"$/),
    expect.stringMatching(
      /^error idem: store unreachable for 2 min, retrying since=\S+ failedCalls=\d+ cause="[^"]+"$/,
    ),
    expect.stringMatching(/^warn idem: store back after 3 min failedCalls=300$/),
  ]);
});

test("a call that the store retries is an outage after two seconds, and is dated from its first attempt", async () => {
  const { health, lines, state, pass } = awayHealth();
  state.isAway = true;
  health.retrying("connect ECONNREFUSED", 1_500);
  expect(lines).toEqual([]);
  await pass(2);
  health.retrying("connect ECONNREFUSED", 2_000);
  expect(lines).toEqual([
    'error idem: store unreachable, retrying since=2026-01-01T00:00:00.000Z cause="connect ECONNREFUSED"',
  ]);
  state.isAway = false;
  await pass(1);
  expect(lines.slice(1)).toEqual(["warn idem: store back after 3 s"]);
});

test("calls that fail one by one while the store answers others are two lines a minute", async () => {
  const { health, lines, pass } = awayHealth();
  for (let second = 0; second < 50; second++) {
    health.report("lease", away());
    await pass(1);
  }
  expect(lines).toHaveLength(2);
});

test("an error that is no outage is logged with its stack once, and then counted", async () => {
  const { health, lines, pass } = awayHealth();
  const defect = errors.STORE_UNAVAILABLE({ why: 'column "lane" does not exist', isReachable: true });
  for (let second = 0; second < 601; second++) {
    health.report("lease", defect);
    await pass(1);
  }
  expect(lines).toHaveLength(2);
  expect(lines[0]).toMatch(/^error idem: lease failed\n.*column "lane" does not exist.*\n +at /);
  expect(lines[1]).toMatch(/^error idem: lease still fails times=600 cause="[^\n]*"$/);
});

test("an outage that nothing fails in any more is neither probed nor logged further", async () => {
  const { health, lines, state, pass } = awayHealth();
  let probes = 0;
  state.isAway = true;
  health.retrying("connect ECONNREFUSED", 2_000);
  await pass(125);
  expect(lines).toHaveLength(3);
  state.isAway = false;
  state.tick = async () => probes++;
  await pass(120);
  expect([lines.length, probes]).toEqual([3, 0]);
});

test("a call that waited for the end of an outage does not make the store slow", async () => {
  const { health, state, pass } = awayHealth();
  expect(health.wasAway(60_000)).toBe(false);
  state.isAway = true;
  health.report("lease", away());
  await pass(10);
  expect(health.wasAway(0)).toBe(true);
  state.isAway = false;
  await pass(5);
  expect([health.wasAway(3_000), health.wasAway(6_000)]).toEqual([false, true]);
});

test("a node whose store is away for 21 seconds logs two lines and no stack, and then does its work", async () => {
  const { lines, logger } = lineLog();
  const world = testIdem<any>();
  const { platform } = world.idem as unknown as { platform: Platform };
  const handle = sharedStore(platform).handle();
  const idem = world.client({
    id: "shop",
    store: handle.store,
    logger,
    logStyle: "lines",
    radar: true,
    retention: "1d",
  });
  const done: string[] = [];
  idem.createFunction({ id: "bill" }, { event: "order/paid" }, () => done.push("billed"));
  idem.createFunction({ id: "report" }, { cron: "* * * * *" }, () => done.push("reported"));
  onTestFinished(() => idem.stop({ grace: 0 }));
  await idem.start();
  await world.clock.tick("10s");
  handle.isCut = true;
  await world.clock.tick("21s");
  handle.isCut = false;
  await world.clock.tick("5s");
  expect(lines).toEqual([
    expect.stringMatching(
      /^error idem: store unreachable, retrying since=\S+ failedCalls=1 cause="the way to it is cut"$/,
    ),
    expect.stringMatching(/^warn idem: store back after 2[12] s failedCalls=\d+$/),
  ]);
  await idem.send({ name: "order/paid" });
  await world.clock.tick("60s");
  expect(done).toEqual(["billed", "reported"]);
});
