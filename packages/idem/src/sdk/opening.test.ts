// A client or a server whose PostgreSQL is not ready yet, or fails over.
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { Telling } from "../engine/telling.ts";
import { errors } from "../model/errors.ts";
import { ManualPlatform } from "../platform/manual-platform.ts";
import { startServer } from "../server/start-server.ts";
import { type SilentProxy, silentProxy } from "../store/postgres/silent-proxy.suite.ts";
import { type PostgresDatabase, postgresDatabase } from "../testing/shared-postgres.suite.ts";
import { Idem } from "./client.ts";
import { Opening } from "./opening.ts";

function lineLog() {
  const lines: string[] = [];
  const log = (text: unknown) => void lines.push(String(text));
  return { lines, logger: { debug: log, info: log, warn: log, error: log } };
}

describe("attempts to open a store", () => {
  const notReady = () => errors.STORE_UNAVAILABLE({ why: "the database system is starting up" });

  function opening() {
    const platform = new ManualPlatform();
    const { lines, logger } = lineLog();
    const state = { error: notReady() as Error | null, attempts: 0, closed: 0 };
    const made = new Opening<string>({
      platform,
      telling: new Telling({ logger, style: "lines", platform }),
      open: async () => {
        state.attempts++;
        if (state.error !== null) throw state.error;
        return "open";
      },
      isNotReady: (error) => (error as { retry?: string }).retry === "later",
      onClosed: () => void state.closed++,
    });
    const pass = (ms: number) => platform.advance(ms, () => new Promise((resolve) => platform.soon(resolve)));
    return { made, state, lines, pass };
  }

  test("are made with growing pauses for as long as one caller waits, and are two lines of the log", async () => {
    const { made, state, lines, pass } = opening();
    const start = made.wait(Number.POSITIVE_INFINITY);
    await pass(21_000);
    expect(state.attempts).toBeGreaterThan(9);
    expect(state.attempts).toBeLessThan(20);
    state.error = null;
    await pass(3_000);
    expect(await start).toBe("open");
    expect(await made.wait(0)).toBe("open");
    expect(lines).toEqual([
      'idem: store not ready, retrying since=2026-01-01T00:00:00.000Z failedCalls=1 cause="the database system is starting up"',
      expect.stringMatching(/^idem: connected to the store after 2\d s failedCalls=\d+$/),
    ]);
  });

  test("refuse a caller once its time is over, and continue for one that waits longer", async () => {
    const { made, state, pass } = opening();
    const calls = [made.wait(1_000), made.wait(10_000)].map((call) => call.catch((error) => error.code));
    await pass(4_000);
    expect(await calls[0]).toBe("STORE_UNAVAILABLE");
    expect(state.closed).toBe(0);
    await pass(10_000);
    expect(await calls[1]).toBe("STORE_UNAVAILABLE");
    const { attempts } = state;
    await pass(60_000);
    expect(state).toMatchObject({ attempts, closed: 1 });
  });

  test("end with the first error that does not pass", async () => {
    const { made, state, pass } = opening();
    const start = made.wait(Number.POSITIVE_INFINITY).catch((error) => error.code);
    await pass(5_000);
    state.error = errors.STORE_ACCESS_DENIED({ path: "db", why: "password authentication failed" });
    await pass(3_000);
    expect(await start).toBe("STORE_ACCESS_DENIED");
  });

  test("end with a stop, and refuse all who wait", async () => {
    const { made, state, lines, pass } = opening();
    const calls = [made.wait(Number.POSITIVE_INFINITY), made.wait(30_000)].map((call) =>
      call.catch((error) => error.code),
    );
    await pass(5_000);
    expect(await made.stop()).toBeNull();
    expect(await Promise.all(calls)).toEqual(["STORE_UNAVAILABLE", "STORE_UNAVAILABLE"]);
    const { attempts } = state;
    await pass(120_000);
    expect(state.attempts).toBe(attempts);
    expect(lines).toHaveLength(1);
  });

  test("let no more than 10,000 calls wait", async () => {
    const { made } = opening();
    const calls = Array.from({ length: 10_001 }, () => made.wait(30_000).catch((error) => error.code));
    expect(await calls[10_000]).toBe("STORE_BUSY");
    await made.stop();
    expect(await calls[9_999]).toBe("STORE_UNAVAILABLE");
  });
});

describe("a PostgreSQL that is not ready", () => {
  let server: PostgresDatabase;
  beforeAll(async () => {
    server = await postgresDatabase();
  });
  afterAll(() => server.remove());
  // Each test has its own: what one leaves due is not for the next.
  let schemas = 0;

  function client(proxy: SilentProxy, options: { readonly storeTimeout?: string } = {}) {
    const { lines, logger } = lineLog();
    const store = `${proxy.url}?schema=opening_${schemas++}`;
    const idem = new Idem({ id: "shop", store, logger, logStyle: "lines", radar: false, ...options });
    const done: string[] = [];
    idem.createFunction({ id: "bill" }, { event: "order/paid" }, () => done.push("billed"));
    onTestFinished(() => idem.stop({ grace: 0 }));
    return { idem, lines, done };
  }

  test.each([
    ["starting-up", "the database system is starting up"],
    ["no-backend", "Connection terminated unexpectedly"],
  ] as const)("is waited for by start() and by send, and is two lines of the log: %s", async (how, cause) => {
    const proxy = await silentProxy(server.url);
    proxy.reply(how);
    const { idem, lines, done } = client(proxy);
    const starting = idem.start();
    const sending = idem.send({ name: "order/paid" });
    await expect.poll(() => lines).toHaveLength(1);
    expect(lines[0]).toMatch(/^idem: store not ready, retrying since=\S+ failedCalls=1 cause="/);
    expect(lines[0]).toContain(cause);
    proxy.reply("forward");
    await starting;
    const { decisions } = await sending;
    expect(await idem.runs.wait(decisions[0]!.runId!)).toMatchObject({ state: "completed" });
    expect(done).toEqual(["billed"]);
    expect(lines.slice(1)).toEqual([expect.stringMatching(/^idem: connected to the store after \S+ m?s /)]);
  });

  test("keeps neither stop() nor the start() that waits for it, and the client can be started again", async () => {
    const proxy = await silentProxy(server.url);
    // Nothing is answered at all: the attempt that is under way has to be cut.
    proxy.silence("all");
    const { idem, lines } = client(proxy);
    const starting = idem.start();
    const sending = idem.send({ name: "order/paid" }).catch((error) => error.code);
    await idem.stop();
    await starting;
    expect(await sending).toBe("STORE_UNAVAILABLE");
    expect(lines).toEqual([]);
    proxy.silence("open");
    await idem.start();
    await idem.stop();
  });

  test("is waited for by a call that opens it as long as storeTimeout says", async () => {
    const proxy = await silentProxy(server.url);
    proxy.reply("starting-up");
    const { idem } = client(proxy, { storeTimeout: "1s" });
    await expect(idem.send({ name: "order/paid" })).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    proxy.reply("forward");
    await idem.send({ name: "order/paid" });
  });

  test("is waited for by a server until it is stopped", async () => {
    const proxy = await silentProxy(server.url);
    proxy.reply("no-backend");
    const start = (logger: ReturnType<typeof lineLog>["logger"], signal?: AbortSignal) =>
      startServer(
        { mode: "dev", port: 0, discovery: false, radar: false, store: `${proxy.url}?schema=served` },
        { logger, logStyle: "lines", ...(signal === undefined ? {} : { signal }) },
      );
    const stopping = new AbortController();
    const stopped = lineLog();
    const refused = start(stopped.logger, stopping.signal).catch((error) => error);
    await expect.poll(() => stopped.lines).toHaveLength(1);
    stopping.abort();
    expect(await refused).toMatchObject({ name: "AbortError" });

    const { lines, logger } = lineLog();
    const starting = start(logger);
    await expect.poll(() => lines).toHaveLength(1);
    proxy.reply("forward");
    const running = await starting;
    expect((await fetch(`${running.origin}/health`)).status).toBe(200);
    expect(lines[1]).toMatch(/^idem: connected to the store after /);
    await running.close({ graceMs: 0 });
  });

  test("under a running node keeps its sends waiting, and is two lines of the log", async () => {
    const proxy = await silentProxy(server.url);
    const { idem, lines, done } = client(proxy);
    await idem.start();
    proxy.reply("no-backend");
    const sending = idem.send({ name: "order/paid" });
    await expect.poll(() => lines).toHaveLength(1);
    proxy.reply("forward");
    const { decisions } = await sending;
    expect(await idem.runs.wait(decisions[0]!.runId!)).toMatchObject({ state: "completed" });
    expect(done).toEqual(["billed"]);
    await expect.poll(() => lines).toHaveLength(2);
    expect(lines).toEqual([
      expect.stringMatching(
        /^idem: store unreachable, retrying since=\S+ (failedCalls=\d+ )?cause="Connection terminated/,
      ),
      expect.stringMatching(/^idem: store back after \d+ (m?s)/),
    ]);
  });

  test.each([
    ["a wrong password", { password: "wrong" }, "STORE_ACCESS_DENIED"],
    ["a database that does not exist", { pathname: "/nowhere" }, "STORE_MISSING"],
    ["a name that does not exist", { hostname: "db.invalid" }, "STORE_HOST_NOT_FOUND"],
  ])("is not taken for %s, which start() refuses at once", async (_, change, code) => {
    const store = Object.assign(new URL(server.url), change).href;
    const { lines, logger } = lineLog();
    const idem = new Idem({ id: "shop", store, logger, logStyle: "lines" });
    await expect(idem.start()).rejects.toMatchObject({ code });
    expect(lines).toEqual([]);
  });

  test.each([["0s"], ["11m"], ["soon"]])("is waited for within bounds: storeTimeout %s is refused", (storeTimeout) => {
    expect(() => new Idem({ id: "shop", storeTimeout })).toThrow(/storeTimeout/);
  });
});
