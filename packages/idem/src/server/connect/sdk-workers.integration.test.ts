// The real SDK's connect() in processes of their own, against the real listener. The caller is a small one: it asks for the next
// step until the function returns, as a run does without checkpointing.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, test } from "vitest";
import type { RemoteReply } from "../../execute/remote.ts";
import { errors } from "../../model/errors.ts";
import { traceparentOf } from "../../protocol/traceparent.ts";
import type { AppRegistration } from "../apps.ts";
import type { Route } from "../route.ts";
import { flushReply } from "../routes/wire/flush-reply.ts";
import { startConnection } from "../routes/wire/start-connection.ts";
import type { ConnectLimits } from "./connect-limits.ts";
import { type ConnectServer, connectServer } from "./connect-server.suite.ts";
import { connectWorkers } from "./connect-workers.ts";

const packageFolder = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "..");
const key = "signkey-prod-4f2a9c0e7b1d8356af03c9e2517bd864";
const otherKey = "signkey-prod-91c7e04b6da2f385d8027fb1c45e639a";

const cleanUps: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

interface Server extends ConnectServer {
  readonly registered: AppRegistration[];
  /** Cuts every worker's line, as a network does. */
  cut(): void;
  workers(count: number): Promise<void>;
  /** Takes no worker in until opened again; resolves when one was refused. */
  shut(): { readonly refused: Promise<void>; open(): void };
  /** Replies that came by HTTP. */
  readonly flushCount: number;
  run(fn: string, data?: unknown): Promise<RemoteReply>;
  close(): Promise<void>;
}

async function server(
  given: { port?: number; mode?: "start"; eventKeys?: string[]; signingKeys?: string[] } = {},
  connectLimits: Partial<ConnectLimits> = {},
): Promise<Server> {
  const registered: AppRegistration[] = [];
  const watchers = new Set<() => void>();
  const lines = new Set<{ destroy(): void }>();
  const watched = {
    ...connectWorkers,
    upgrade: (...given: Parameters<typeof connectWorkers.upgrade>) => {
      lines.add(given[1]);
      given[1].once("close", () => {
        lines.delete(given[1]);
        for (const watch of watchers) setImmediate(watch);
      });
      connectWorkers.upgrade(...given);
    },
  };
  let onRefusal: (() => void) | null = null;
  const guarded: Route = {
    ...startConnection,
    handle: (request, given) => {
      if (onRefusal === null) return startConnection.handle(request, given);
      onRefusal();
      throw errors.SERVER_BUSY({ why: "connect_gateway_closing" });
    },
  };
  const flushed: Route = {
    ...flushReply,
    handle: (request, given) => {
      flushCount++;
      return flushReply.handle(request, given);
    },
  };
  let flushCount = 0;
  const connected = await connectServer({
    ...given,
    connectLimits,
    start: guarded,
    flush: flushed,
    socket: watched,
    onRegister: (registration) => {
      registered.push(registration);
      // It is counted once it has been answered.
      for (const watch of watchers) setImmediate(watch);
    },
  });
  const { gateway, listener } = connected;
  let callCount = 0;
  const remote = gateway.remoteFor("default", "shop");
  const opened: Server = {
    ...connected,
    registered,
    cut: () => {
      for (const line of lines) line.destroy();
    },
    workers: (count) =>
      new Promise((resolve) => {
        const look = () => {
          if (gateway.workerCount("default", "shop") !== count) return;
          watchers.delete(look);
          resolve();
        };
        watchers.add(look);
        look();
      }),
    shut: () => {
      const refused = new Promise<void>((resolve) => {
        onRefusal = resolve;
      });
      return {
        refused,
        open: () => {
          onRefusal = null;
        },
      };
    },
    get flushCount() {
      return flushCount;
    },
    run: async (fn, data = {}) => {
      const steps: Record<string, unknown> = {};
      const event = { id: "e1", name: "shop/paid", data, ts: 1_700_000_000_000, user: {} };
      for (;;) {
        const requestId = `request-${++callCount}`;
        const ctx = { run_id: "01JD0000000000000000000000", env: "", step_id: "step", attempt: 0, max_attempts: 5 };
        const body = { event, events: [event], steps, defers: {}, version: 2, use_api: false, ctx };
        const reply = await remote.call({
          fn,
          runId: ctx.run_id,
          stepId: "step",
          planOnly: false,
          body: JSON.stringify({
            ...body,
            ctx: {
              ...ctx,
              request_id: requestId,
              stack: { stack: Object.keys(steps), current: Object.keys(steps).length },
            },
          }),
          requestId,
          generation: 1,
          jobId: "job-1",
          traceparent: traceparentOf({ runId: ctx.run_id, requestId }),
          signal: new AbortController().signal,
        });
        const ops = reply.status === 206 ? JSON.parse(reply.body) : null;
        if (ops === null || ops.some(({ op }: { op: string }) => op !== "StepRun")) return reply;
        for (const { id, data } of ops) steps[id] = { data };
      }
    },
    close: () => listener.close(5_000),
  };
  cleanUps.push(opened.close);
  return opened;
}

// Reports its doings to its parent, and waits for words that only a test can decide on.
const workerCode = `
  import { Inngest, NonRetriableError, RetryAfterError } from "inngest";
  import { connect } from "inngest/connect";
  const told = (word) => new Promise((resolve) => process.on("message", (said) => said === word && resolve()));
  const inngest = new Inngest({ id: "shop", checkpointing: false, logger: { info() {}, warn() {}, error() {}, debug() {} } });
  const on = { triggers: [{ event: "shop/paid" }] };
  const functions = [
    inngest.createFunction({ id: "add", ...on, onFailure: () => {} }, async ({ event, step }) => {
      const a = await step.run("a", () => event.data.n + 1);
      const b = await step.run("b", () => a * 10);
      return { a, b, jobs: process.pid > 0 };
    }),
    inngest.createFunction({ id: "hold", ...on }, async ({ step }) => {
      const held = await step.run("hold", async () => {
        const released = told("release");
        process.send("holding");
        await released;
        process.send("released");
        return process.pid;
      });
      return { held };
    }),
    inngest.createFunction({ id: "never", ...on }, () => { throw new NonRetriableError("not this way") }),
    inngest.createFunction({ id: "later", ...on }, () => { throw new RetryAfterError("later", 30_000) }),
    inngest.createFunction({ id: "cart", ...on }, async ({ step }) => {
      await step.run("charge", () => { throw new NonRetriableError("card") });
    }),
  ];
  const options = JSON.parse(process.env.CONNECT_OPTIONS ?? "{}");
  const connection = await connect({ apps: [{ client: inngest, functions }], ...options });
  process.send("connected");
  await connection.closed;
  process.send("closed");
  process.disconnect();
`;

interface Worker {
  readonly pid: number;
  tell(word: string): void;
  /** Resolves when it has said the word, also if that was before. */
  says(word: string): Promise<void>;
  kill(signal: NodeJS.Signals): void;
  readonly exit: Promise<number | null>;
}

function worker(origin: string, env: Record<string, string> = { INNGEST_DEV: origin }): Worker {
  const child: ChildProcess = spawn(process.execPath, ["--input-type=module", "--eval", workerCode], {
    cwd: packageFolder,
    // Node 20 has its WebSocket behind a flag, which threads take from here only.
    env: { PATH: process.env.PATH, NODE_OPTIONS: "--experimental-websocket --no-warnings", ...env },
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const said: string[] = [];
  child.on("message", (word) => {
    said.push(String(word));
  });
  const exit = once(child, "exit").then(([code]) => code as number | null);
  cleanUps.push(async () => {
    child.kill("SIGKILL");
    await exit;
  });
  return {
    pid: child.pid!,
    tell: (word) => child.send(word),
    says: async (word) => {
      while (!said.includes(word)) {
        await Promise.race([
          once(child, "message"),
          exit.then((code) => {
            throw new Error(`the worker ended with ${code} before it said "${word}"`);
          }),
        ]);
      }
    },
    kill: (signal) => child.kill(signal),
    exit,
  };
}

describe("workers of the real SDK", () => {
  test.each([
    { how: "with its socket in a thread", options: {} },
    { how: "with its socket beside the functions", options: { isolateExecution: false, maxWorkerConcurrency: 3 } },
  ])("connect $how, register, and run functions step by step", async ({ options }) => {
    const { origin, registered, run, workers } = await server();
    worker(origin, { INNGEST_DEV: origin, CONNECT_OPTIONS: JSON.stringify(options) });
    await workers(1);
    expect(registered[0]).toMatchObject({ app: "shop", url: null, sdk: "js:v4.24.0", framework: "connect" });
    expect(registered[0]!.functions.map(({ fn, config }) => `${fn} ${config.runtime?.kind}`)).toEqual([
      "shop-add connect",
      "shop-add-failure connect",
      "shop-hold connect",
      "shop-never connect",
      "shop-later connect",
      "shop-cart connect",
    ]);
    const added = await run("shop-add", { n: 1 });
    expect([added.status, JSON.parse(added.body)]).toMatchObject([200, { a: 2, b: 20 }]);
    expect(added.headers).toMatchObject({ "x-inngest-sdk": "inngest-js:v4.24.0", "x-inngest-req-version": "2" });

    const never = await run("shop-never");
    expect([never.status, JSON.parse(never.body).message]).toEqual([400, "not this way"]);
    expect(never.headers["x-inngest-no-retry"]).toBe("true");

    const later = await run("shop-later");
    expect([later.status, later.headers["retry-after"]]).toEqual([500, "30"]);

    const cart = await run("shop-cart");
    expect([cart.status, JSON.parse(cart.body)[0].op]).toEqual([206, "StepFailed"]);
  });

  test("show a signing key, and the fallback when it is not known", async () => {
    const { origin, run, workers } = await server({
      mode: "start",
      eventKeys: ["9e41c7d20ab85f36"],
      signingKeys: [key],
    });
    worker(origin, {
      INNGEST_DEV: "0",
      INNGEST_BASE_URL: origin,
      INNGEST_SIGNING_KEY: otherKey,
      INNGEST_SIGNING_KEY_FALLBACK: key,
    });
    await workers(1);
    expect((await run("shop-add", { n: 4 })).body).toContain('"b":50');
  });

  test("told to stop finish what they have, while others take what comes", async () => {
    const { origin, run, workers } = await server();
    const leaving = worker(origin);
    await leaving.says("connected");
    const held = run("shop-hold");
    await leaving.says("holding");
    leaving.kill("SIGTERM");
    const staying = worker(origin);
    await workers(2);
    expect((await run("shop-add", { n: 0 })).status).toBe(200);
    leaving.tell("release");
    expect(JSON.parse((await held).body)).toEqual({ held: leaving.pid });
    expect(await leaving.exit).toBe(0);
    await workers(1);
    const next = run("shop-hold");
    await staying.says("holding");
    staying.tell("release");
    expect(JSON.parse((await next).body)).toEqual({ held: staying.pid });
  });

  test("killed in the middle of a step give the call back, and another runs it", async () => {
    const { origin, run } = await server({}, { orphanMs: 200 });
    const dying = worker(origin);
    await dying.says("connected");
    const lost = run("shop-hold");
    await dying.says("holding");
    dying.kill("SIGKILL");
    await expect(lost).rejects.toMatchObject({ name: "AppUnreachableError" });
    const other = worker(origin);
    await other.says("connected");
    const again = run("shop-hold");
    await other.says("holding");
    other.tell("release");
    expect(JSON.parse((await again).body)).toEqual({ held: other.pid });
  });

  test("whose line is cut reconnect and deliver what they were working on", async () => {
    const { origin, run, cut, workers, gateway } = await server({}, { extendLeaseMs: 200 });
    const only = worker(origin);
    await only.says("connected");
    const held = run("shop-hold");
    await only.says("holding");
    cut();
    await workers(0);
    await workers(1);
    only.tell("release");
    expect(JSON.parse((await held).body)).toEqual({ held: only.pid });
    expect(gateway.workerCount("default", "shop")).toBe(1);
  });

  test("that could not give a reply flush it when they are back", async () => {
    const shop = await server();
    const only = worker(shop.origin);
    await only.says("connected");
    const held = shop.run("shop-hold");
    await only.says("holding");
    const shut = shop.shut();
    shop.cut();
    await shut.refused;
    only.tell("release");
    await only.says("released");
    shut.open();
    expect(JSON.parse((await held).body)).toEqual({ held: only.pid });
    expect(shop.flushCount).toBe(1);
  });

  test("find a server that was restarted by themselves", async () => {
    const first = await server();
    const only = worker(first.origin);
    await only.says("connected");
    const { port } = first.listener;
    await first.close();
    const second = await server({ port });
    await second.workers(1);
    expect((await second.run("shop-add", { n: 1 })).status).toBe(200);
    expect(only.pid).toBeGreaterThan(0);
  });
});
