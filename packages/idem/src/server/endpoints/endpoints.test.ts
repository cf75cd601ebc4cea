// Durable endpoints with the official SDK: its handler drives the run, this server keeps and continues it.
import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { setImmediate } from "node:timers/promises";
import { Inngest, NonRetriableError, step } from "inngest";
import { stream } from "inngest/experimental/durable-endpoints";
import { fetchWithStream } from "inngest/experimental/durable-endpoints/client";
import { createEndpointServer, endpointAdapter } from "inngest/node";
import { describe, expect, onTestFinished, test } from "vitest";
import { nodePlatform } from "../../platform/node-platform.ts";
import type { Platform } from "../../platform/platform.ts";
import { openStore } from "../../sdk/open-store.ts";
import { runsApi } from "../../sdk/reads-api.ts";
import type { Store } from "../../store/store.ts";
import { mintRealtimeToken } from "../realtime/realtime-token.ts";
import { type RunningServer, startServer } from "../start-server.ts";
import type { ServerSettings } from "../world.ts";
import { endpointLimits } from "./limits.ts";

const signingKey = "signkey-test-4f2a9c0e7b1d8356af03c9e2517bd864";
const withKeys = {
  mode: "start",
  eventKeys: ["9e41c7d20ab85f36"],
  signingKeys: [signingKey],
  // The test's apps live on this machine.
  allowHosts: ["127.0.0.1"],
} as const;
const cloud = { isDev: false, signingKey, eventKey: "9e41c7d20ab85f36" };

const quiet = { debug() {}, info() {}, warn() {}, error() {} };

/** Apps are taken for dead when the test says so, and not by a clock that a busy machine outruns. */
function silenceWhenTold(): { platform: Platform; silence: () => void } {
  const pending = new Set<() => void>();
  const timer: Platform["timer"] = (delayMs, run, options) => {
    if (delayMs !== endpointLimits.silentMs) return nodePlatform.timer(delayMs, run, options);
    pending.add(run);
    return { cancel: () => void pending.delete(run) };
  };
  const silence = () => {
    const due = [...pending];
    pending.clear();
    for (const run of due) run();
  };
  return { platform: { ...nodePlatform, timer }, silence };
}

async function serve(
  settings: Partial<ServerSettings> = {},
  platform: Platform = nodePlatform,
  store?: Store,
): Promise<RunningServer> {
  const server = await startServer(
    { port: 0, store: "memory:", discovery: false, poll: false, retryIntervalMs: 10, ...settings },
    { logger: quiet, platform, ...(store === undefined ? {} : { store }) },
  );
  onTestFinished(() => server.close({ graceMs: 1_000 }));
  return server;
}

type Handler = (request: Request) => Promise<unknown>;

async function app(
  origin: string,
  handler: Handler,
  options: Partial<ConstructorParameters<typeof Inngest>[0]> = {},
  port = 0,
) {
  const client = new Inngest({ id: "shop", baseUrl: origin, isDev: true, logger: quiet, endpointAdapter, ...options });
  const server = createEndpointServer(client.endpoint(handler as any) as any);
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  onTestFinished(close);
  const { port: given } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${given}`, port: given, close };
}

/** The newest run of the server, to its end. */
async function newestRun(server: RunningServer) {
  const runs = runsApi(() => server.world.engine("default"));
  const [run] = await runs.list();
  const end = await runs.wait(run!.id);
  const { timeline } = (await runs.get(run!.id))!;
  return { run: run!, ...end, timeline, count: (await runs.list()).length };
}

/** On a connection of its own: one kept by fetch may lead to a server that has just been closed. */
async function getFresh(url: string): Promise<[number, unknown]> {
  const [response] = (await once(get(url, { agent: false }), "response")) as [IncomingMessage];
  const chunks = await response.toArray();
  return [response.statusCode!, JSON.parse(Buffer.concat(chunks).toString())];
}

const modes = [
  ["dev", {}, {}],
  ["start", withKeys, cloud],
] as const;

describe.each(modes)("in %s", (_mode, settings, options) => {
  test("a handler that needs nobody answers by itself, and its run is kept with its steps", async () => {
    const server = await serve(settings);
    const calls: string[] = [];
    const handler: Handler = async (request) => {
      const a = await step.run("a", () => calls.push("a"));
      const b = await step.run("b", () => calls.push("b"));
      return { a, b, path: new URL(request.url).pathname };
    };
    const { url } = await app(server.origin, handler, options);
    const answer = await fetch(`${url}/orders/7?x=1`, { method: "POST", body: '{"n":1}' });
    expect([answer.status, await answer.json()]).toEqual([200, { a: 1, b: 2, path: "/orders/7" }]);
    const { run, state, output, timeline } = await newestRun(server);
    expect(state).toBe("completed");
    expect(JSON.parse((output as { body: string }).body)).toEqual({ a: 1, b: 2, path: "/orders/7" });
    expect(run.function).toBe(`${url}-POST /orders/7`);
    expect(JSON.stringify(timeline)).toMatch(/"a".*"b"/);
    expect(calls).toEqual(["a", "b"]);
  });

  test("a sleep hands the run to the server: the caller is sent to its output, which waits and is what the handler made", async () => {
    const server = await serve(settings);
    const calls: string[] = [];
    // The SDK has read the body before the handler can (4.24.0); the query is what a handler goes by.
    const handler: Handler = async (request) => {
      await step.run("before", () => calls.push("before"));
      await step.sleep("nap", "1s");
      const after = await step.run("after", () => calls.push("after"));
      return { after, query: new URL(request.url).search, method: request.method };
    };
    const { url } = await app(server.origin, handler, options);
    const post = { method: "POST", headers: { "content-type": "application/json" }, body: '{"n":5,"a":"é"}' };
    const first = await fetch(`${url}/slow?z=1&a=2`, { ...post, redirect: "manual" });
    expect(first.status).toBe(302);
    const location = first.headers.get("location")!;
    expect(location).toMatch(new RegExp(`^${server.origin}/v1/http/runs/[0-9A-Z]{26}/output\\?token=`));
    const answers = await Promise.all([
      fetch(location),
      fetch(location),
      fetch(location.replace("/v1/http/runs/", "/v1/checkpoint/")),
    ]);
    for (const answer of answers) {
      expect([answer.status, await answer.json()]).toEqual([200, { after: 2, query: "?z=1&a=2", method: "POST" }]);
      expect(answer.headers.get("content-security-policy")).toBe("sandbox");
    }
    expect(calls).toEqual(["before", "after"]);
  });

  test("parallel steps are run by the server, each once", async () => {
    const server = await serve(settings);
    const calls: string[] = [];
    const handler: Handler = async () => {
      await step.run("first", () => calls.push("first"));
      const both = await Promise.all([
        step.run("left", () => calls.push("left") && "l"),
        step.run("right", () => calls.push("right") && "r"),
      ]);
      const last = await step.run("last", () => calls.push("last") && "x");
      return [...both, last];
    };
    const { url } = await app(server.origin, handler, options);
    const answer = await fetch(url);
    expect([answer.status, await answer.json()]).toEqual([200, ["l", "r", "x"]]);
    expect([...calls].sort()).toEqual(["first", "last", "left", "right"]);
  });

  test("a step that fails is tried again by the server, as often as its author allows", async () => {
    const server = await serve(settings);
    let tries = 0;
    const handler: Handler = async () => {
      await step.run("fine", () => 1);
      return step.run("shaky", () => {
        tries++;
        if (tries < 3) throw new Error(`try ${tries}`);
        return tries;
      });
    };
    const { url } = await app(server.origin, handler, options);
    const answer = await fetch(url);
    expect([answer.status, await answer.json()]).toEqual([200, 3]);
    expect((await newestRun(server)).state).toBe("completed");
  });
});

test("a handler without steps answers as it likes, and leaves a run that is over", async () => {
  const server = await serve();
  const { url } = await app(server.origin, async () => new Response("hello", { status: 201 }));
  const answer = await fetch(url);
  expect([answer.status, await answer.text()]).toEqual([201, "hello"]);
  // The SDK reports in the background, after it has answered.
  const { store } = await server.world.engine("default");
  while ((await store.reads.runs("default", { limit: 1 })).length === 0) await setImmediate();
  expect((await newestRun(server)).state).toBe("completed");
});

test("a step that fails for good fails the run, and its caller is told without a stack", async () => {
  const server = await serve();
  let tries = 0;
  const handler: Handler = async () =>
    step.run("broken", () => {
      tries++;
      throw new Error("no luck");
    });
  const { url } = await app(server.origin, handler);
  const answer = await fetch(url);
  expect([answer.status, await answer.json()]).toEqual([500, { name: "Error", message: "no luck" }]);
  // The SDK says 3 retries.
  expect([tries, (await newestRun(server)).state]).toEqual([4, "failed"]);
});

test("a handler that gives up after its steps answers its caller, and its run fails once the app has been silent", async () => {
  const { platform, silence } = silenceWhenTold();
  const server = await serve({}, platform);
  const handler: Handler = async () => {
    await step.run("a", () => 1);
    throw new NonRetriableError("gives up");
  };
  const { url } = await app(server.origin, handler);
  const answer = await fetch(url);
  expect([answer.status, await answer.json()]).toMatchObject([400, { message: "gives up" }]);
  silence();
  expect(await newestRun(server)).toMatchObject({ state: "failed", error: { message: "gives up" } });
});

test("an app that dies after its first report is entered again, and only the step it was in runs again", async () => {
  const { platform, silence } = silenceWhenTold();
  const server = await serve({}, platform);
  const calls: string[] = [];
  let enterB = () => {};
  const enteredB = new Promise<void>((resolve) => {
    enterB = resolve;
  });
  const handler: Handler = async () => {
    await step.run("a", () => calls.push("a"));
    await step.run("b", () => {
      calls.push("b");
      enterB();
      // The first of them is never heard of again.
      return calls.length === 2 ? new Promise(() => {}) : "done";
    });
    return "over";
  };
  const first = await app(server.origin, handler);
  const asked = fetch(first.url).catch(() => "cut off");
  await enteredB;
  first.close();
  expect(await asked).toBe("cut off");
  await app(server.origin, handler, {}, first.port);
  silence();
  expect(await newestRun(server)).toMatchObject({ state: "completed", count: 1 });
  expect(calls).toEqual(["a", "b", "b"]);
});

test("an app that was taken for dead and reports again goes on by itself", async () => {
  const { platform, silence } = silenceWhenTold();
  const server = await serve({}, platform);
  const calls: string[] = [];
  let entered = () => {};
  const isEntered = new Promise<void>((resolve) => {
    entered = resolve;
  });
  let isFirst = true;
  const handler: Handler = async () => {
    await step.run("a", () => calls.push("a"));
    await step.run("slow", async () => {
      calls.push("slow");
      if (isFirst) {
        isFirst = false;
        silence();
        await isEntered;
      } else {
        entered();
        // The server gave up waiting for this one.
        await new Promise(() => {});
      }
    });
    await step.run("c", () => calls.push("c"));
    return "over";
  };
  const { url } = await app(server.origin, handler);
  const answer = await fetch(url);
  expect([answer.status, await answer.json()]).toEqual([200, "over"]);
  expect(calls).toEqual(["a", "slow", "slow", "c"]);
  expect((await newestRun(server)).state).toBe("completed");
});

test("a sleeping run outlives the server that was told of it", async () => {
  const { store } = await openStore("sqlite::memory:", nodePlatform);
  onTestFinished(() => store.close());
  const first = await serve(withKeys, nodePlatform, store);
  const { port } = first;
  const calls: string[] = [];
  const handler: Handler = async () => {
    await step.run("a", () => calls.push("a"));
    await step.sleep("nap", "1s");
    await step.run("b", () => calls.push("b"));
    return "over";
  };
  const { url } = await app(first.origin, handler, cloud);
  const { headers } = await fetch(url, { redirect: "manual" });
  await first.close({ graceMs: 1_000 });
  await serve({ ...withKeys, port }, nodePlatform, store);
  expect(await getFresh(headers.get("location")!)).toEqual([200, "over"]);
  expect(calls).toEqual(["a", "b"]);
});

test("a run that is being driven outlives the server: its app goes on with the next one, and runs no step twice", async () => {
  const { store } = await openStore("sqlite::memory:", nodePlatform);
  onTestFinished(() => store.close());
  const first = await serve({}, nodePlatform, store);
  const calls: string[] = [];
  let goOn = () => {};
  const mayGoOn = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  let enterB = () => {};
  const enteredB = new Promise<void>((resolve) => {
    enterB = resolve;
  });
  const handler: Handler = async () => {
    await step.run("a", () => calls.push("a"));
    await step.run("b", async () => {
      calls.push("b");
      enterB();
      await mayGoOn;
    });
    await step.run("c", () => calls.push("c"));
    return "over";
  };
  const { url } = await app(first.origin, handler);
  const asked = fetch(url);
  await enteredB;
  await first.close({ graceMs: 30_000 });
  const second = await serve({ port: first.port }, nodePlatform, store);
  goOn();
  const answer = await asked;
  expect([answer.status, await answer.json()]).toEqual([200, "over"]);
  expect(await newestRun(second)).toMatchObject({ state: "completed", count: 1 });
  expect(calls).toEqual(["a", "b", "c"]);
});

test("a run that is cancelled while its app drives it takes no more reports", async () => {
  const server = await serve();
  let ran = 0;
  const handler: Handler = async () => {
    await step.run("a", () => 1);
    await step.run("b", async () => {
      const runs = runsApi(() => server.world.engine("default"));
      const [run] = await runs.list();
      await runs.cancel(run!.id);
    });
    await step.run("c", () => ran++);
  };
  const { url } = await app(server.origin, handler);
  const answer = await fetch(url);
  expect([answer.status, await answer.text()]).toEqual([500, expect.stringContaining("CHECKPOINT_STALE")]);
  expect([(await newestRun(server)).state, ran]).toEqual(["cancelled", 0]);
});

test("a caller that has waited five minutes for its output is sent to wait on", async () => {
  const platform: Platform = {
    ...nodePlatform,
    timer: (delayMs, run, options) =>
      nodePlatform.timer(delayMs === endpointLimits.outputWaitMs ? 20 : delayMs, run, options),
  };
  const server = await serve({}, platform);
  const handler: Handler = async () => {
    await step.sleep("long", "1h");
  };
  const { url } = await app(server.origin, handler);
  const { headers } = await fetch(url, { redirect: "manual" });
  const location = headers.get("location")!;
  const waited = await fetch(location, { redirect: "manual" });
  expect([waited.status, new URL(waited.headers.get("location")!, location).href]).toEqual([302, location]);
});

test("what a handler streams reaches its caller also after the server took the run over, and so does its answer", async () => {
  const server = await serve();
  const handler: Handler = async () => {
    await step.run("a", () => stream.push({ from: "a" }));
    await step.sleep("nap", "1s");
    await step.run("b", () => stream.push({ from: "b" }));
    return { all: "said" };
  };
  const { url } = await app(server.origin, handler);
  const heard: unknown[] = [];
  const answer = await fetchWithStream(url, { onData: ({ data }) => heard.push(data) });
  expect([answer.status, await answer.json()]).toEqual([200, { all: "said" }]);
  expect(heard).toEqual([{ from: "a" }, { from: "b" }]);
});

test("a run's stream opens with a bare comment; a caller without a place hears it from its first event, with one what follows", async () => {
  const server = await serve();
  let say = () => {};
  const said = new Promise<void>((resolve) => {
    say = resolve;
  });
  const handler: Handler = async () => {
    await step.run("a", () => stream.push("a"));
    await step.sleep("nap", "1s");
    await step.run("b", async () => {
      stream.push("b");
      await said;
      stream.push("c");
    });
    return "done";
  };
  const { url } = await app(server.origin, handler);
  const direct = await (await fetch(url, { headers: { accept: "text/event-stream" } })).text();
  const redirect = JSON.parse(/^event: inngest\.redirect_info\ndata: (.*)$/m.exec(direct)![1]!).url as string;
  const pushed = (text: string) => [...text.matchAll(/^data: {"data":"(\w)"/gm)].map(([, data]) => data);
  let first = "";
  for await (const piece of (await fetch(redirect)).body!) {
    first += Buffer.from(piece);
    if (pushed(first).includes("b")) break;
  }
  expect(first.split("\n\n")[0]).toBe(":");
  say();
  await newestRun(server);
  const whole = await (await fetch(redirect)).text();
  expect([whole.split("\n\n")[0], pushed(whole)]).toEqual([":", ["b", "c"]]);
  const place = [...first.matchAll(/^id: (\d+)$/gm)].at(-1)![1]!;
  const rest = await (await fetch(redirect, { headers: { "last-event-id": place } })).text();
  expect([rest.split("\n\n")[0], pushed(rest)]).toEqual([":", ["c"]]);
  for (const text of [whole, rest]) expect(text.match(/^event: inngest\.response$/gm)).toHaveLength(1);
});

test("who follows a run that has ended hears its answer at once", async () => {
  const server = await serve();
  const handler: Handler = async () => {
    await step.run("a", () => 1);
    return { n: 1 };
  };
  const { url } = await app(server.origin, handler);
  await fetch(url);
  const { run } = await newestRun(server);
  const token = mintRealtimeToken(server.world.tokens, "default", {
    topics: [{ channel: run.id, topic: run.id }],
    runId: run.id,
  });
  const events = await (await fetch(`${server.origin}/v1/realtime/sse?token=${token}`)).text();
  const said = /^event: inngest\.response\ndata: (.*)$/m.exec(events)![1]!;
  expect(JSON.parse(said)).toMatchObject({ status: "succeeded", response: { statusCode: 200, body: '{"n":1}' } });
});
