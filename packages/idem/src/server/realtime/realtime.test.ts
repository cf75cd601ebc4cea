// Realtime with the official SDK on one side and this server on the other, with and without keys.
import { on, once } from "node:events";
import { connect } from "node:net";
import { Inngest } from "inngest";
import { channel, staticSchema, subscribe } from "inngest/realtime";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { WebSocket } from "ws";
import { startServer } from "../start-server.ts";
import type { ServerSettings } from "../world.ts";

const signingKey = "signkey-test-4f2a9c0e7b1d8356af03c9e2517bd864";
const otherKey = "signkey-test-91c7e04b6da2f385d8027fb1c45e639a";

// Node 20 has no global one; the SDK takes what it finds.
beforeAll(() => {
  globalThis.WebSocket ??= WebSocket as unknown as typeof globalThis.WebSocket;
});

const quiet = { debug() {}, info() {}, warn() {}, error() {} };

async function serve(settings: Partial<ServerSettings> = {}) {
  const server = await startServer(
    { port: 0, store: "memory:", discovery: false, poll: false, ...settings },
    { logger: quiet },
  );
  onTestFinished(() => server.close({ graceMs: 1_000 }));
  return server;
}

const withKeys = { mode: "start", eventKeys: ["9e41c7d20ab85f36"], signingKeys: [signingKey] } as const;

const clientOf = (baseUrl: string, options: Partial<ConstructorParameters<typeof Inngest>[0]> = {}) =>
  new Inngest({ id: "shop", baseUrl, isDev: true, logger: quiet, ...options });

const orders = channel({
  name: (id: string) => `order:${id}`,
  topics: { status: { schema: staticSchema<any>() }, notes: { schema: staticSchema<any>() } },
});

/** Reads messages until `count` are there. */
async function take<T>(stream: ReadableStream<T>, count: number): Promise<T[]> {
  const reader = stream.getReader();
  const taken: T[] = [];
  while (taken.length < count) {
    const { done, value } = await reader.read();
    if (done) break;
    taken.push(value);
  }
  reader.releaseLock();
  return taken;
}

/** The frames a plain WebSocket receives, one by one. */
async function framesOf(origin: string, { key }: { key?: string | undefined }): Promise<() => Promise<any>> {
  const socket = new WebSocket(`${origin.replace("http", "ws")}/v1/realtime/connect?token=${key}`);
  onTestFinished(() => socket.terminate());
  const messages = on(socket, "message");
  const next = async () => JSON.parse(String((await messages.next()).value[0]));
  expect(await next()).toMatchObject({ kind: "sub", place: expect.any(String) });
  return next;
}

const modes = [
  ["dev", {}, {}],
  ["start", withKeys, { isDev: false, signingKey, eventKey: "9e41c7d20ab85f36" }],
] as const;

describe.each(modes)("in %s", (_mode, settings, options) => {
  test("a subscriber of the SDK hears what the SDK publishes to its topics, in order, and nothing else", async () => {
    const { origin } = await serve(settings);
    const client = clientOf(origin, options);
    const stream = await subscribe({ app: client, channel: orders("7"), topics: ["status"] });
    onTestFinished(() => stream.close());
    await client.realtime.publish(orders("8").status, { to: "another channel" });
    await client.realtime.publish(orders("7").notes, { to: "another topic" });
    await client.realtime.publish(orders("7").status, { step: 1, price: 1.5, text: "é\n✓" });
    await client.realtime.publish(orders("7").status, "plain text");
    await client.realtime.publish(orders("7").status, null);
    const heard = await take(stream, 3);
    expect(heard.map(({ channel, topic, kind, data }) => ({ channel, topic, kind, data }))).toEqual([
      { channel: "order:7", topic: "status", kind: "data", data: { step: 1, price: 1.5, text: "é\n✓" } },
      { channel: "order:7", topic: "status", kind: "data", data: "plain text" },
      { channel: "order:7", topic: "status", kind: "data", data: undefined },
    ]);
    expect(heard[0]).toMatchObject({ envId: "default", createdAt: expect.any(Date) });
  });

  test("a stream is heard piece by piece while it is being published", async () => {
    const { origin } = await serve(settings);
    const client = clientOf(origin, options);
    // The SDK's own subscriber (4.24.0) throws at the first frame of a stream: it uses a variable before it has a value.
    const next = await framesOf(origin, await client.realtime.token({ channel: "chat", topics: ["words"] }));
    let say!: ReadableStreamDefaultController<Uint8Array>;
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        say = controller;
      },
    });
    const bytes = new TextEncoder().encode("grüße ");
    // Cut inside a character of two bytes.
    say.enqueue(bytes.slice(0, 3));
    // The SDK's public way to publish takes JSON; its API client streams.
    const published = client["inngestApi"].publish({ channel: "chat", topics: ["words"] }, body as any);
    const started = await next();
    expect(started).toMatchObject({ kind: "datastream-start", channel: "chat", topic: "words" });
    expect(await next()).toMatchObject({ kind: "chunk", data: "gr", stream_id: started.data });
    say.enqueue(bytes.slice(3));
    expect(await next()).toMatchObject({ kind: "chunk", data: "üße " });
    say.enqueue(new TextEncoder().encode("x".repeat(3_000)));
    let long = "";
    while (long.length < 3_000) {
      const { kind, data } = await next();
      expect([kind, Buffer.byteLength(data) <= 1_024]).toEqual(["chunk", true]);
      long += data;
    }
    say.close();
    expect(await next()).toMatchObject({ kind: "datastream-end", data: started.data });
    expect(await published).toMatchObject({ ok: true });
  });

  test("a connection without a token this server handed out is refused", async () => {
    const { origin } = await serve(settings);
    const stranger = await serve(settings === withKeys ? { ...withKeys, signingKeys: [otherKey] } : {});
    const { key } = await clientOf(stranger.origin, {
      ...options,
      ...(settings === withKeys ? { signingKey: otherKey } : {}),
    }).realtime.token({ channel: "chat", topics: ["words"] });
    for (const token of ["", "nonsense", key!]) {
      const socket = new WebSocket(`${origin.replace("http", "ws")}/v1/realtime/connect?token=${token}`);
      const status = await new Promise((resolve) => {
        socket.on("unexpected-response", (_request, response) => resolve(response.statusCode));
        socket.on("error", () => {});
        socket.on("open", () => resolve("open"));
      });
      expect(status).toBe(401);
      expect((await fetch(`${origin}/v1/realtime/sse?token=${token}`)).status).toBe(401);
    }
  });

  test("a reader of server-sent events hears messages, and what a run says, event by event", async () => {
    const { origin } = await serve(settings);
    const client = clientOf(origin, options);
    const { key } = await client.realtime.token({ channel: "run-1", topics: ["status"] });
    const answer = await fetch(`${origin}/v1/realtime/sse?token=${key}`);
    expect(answer.headers.get("content-type")).toBe("text/event-stream");
    const reader = answer.body!.getReader();
    let text = "";
    const until = async (part: string) => {
      while (!text.includes(part)) text += new TextDecoder().decode((await reader.read()).value);
    };
    await until("\n\n");
    expect(text).toMatch(/^:\nid: \d+\n\n$/);
    await client["inngestApi"].publish({ channel: "run-1", topics: ["status"] }, { a: 1 });
    await until('"data":{"a":1},"place":');
    let say!: ReadableStreamDefaultController<Uint8Array>;
    const body = new ReadableStream({
      start: (controller) => {
        say = controller;
      },
    });
    const write = (part: string) => say.enqueue(new TextEncoder().encode(part));
    write("event: inngest.stream\nda");
    const teed = client["inngestApi"].checkpointStream({ runId: "run-1", body });
    write('ta: {"data":1}\n\nevent: half');
    await until('event: inngest.stream\ndata: {"data":1}\nid: ');
    expect(text).not.toContain("half");
    write(" no more\n\n");
    await until("half no more\nid: ");
    say.close();
    await teed;
    await reader.cancel();
  });
});

describe("with keys", () => {
  test("publishing and asking for tokens take a signing key, the second one of an environment as well", async () => {
    const { origin } = await serve({ ...withKeys, signingKeys: [signingKey, otherKey] });
    const bare = await fetch(`${origin}/v1/realtime/token`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: "[]",
    });
    expect(bare.status).toBe(401);
    const client = clientOf(origin, { isDev: false, signingKey: otherKey, eventKey: "9e41c7d20ab85f36" });
    const stream = await subscribe({ app: client, channel: "chat", topics: ["words"] });
    onTestFinished(() => stream.close());
    await client.realtime.publish({ channel: "chat", topic: "words", config: {} } as any, 1);
    expect(await take(stream, 1)).toMatchObject([{ data: 1 }]);
  });

  test("environments do not hear each other, though their channels have the same names", async () => {
    const { origin } = await serve({ ...withKeys, signingKeys: [signingKey, `staging=${otherKey}`] });
    const here = clientOf(origin, { isDev: false, signingKey, eventKey: "9e41c7d20ab85f36" });
    const there = clientOf(origin, { isDev: false, signingKey: otherKey, eventKey: "9e41c7d20ab85f36" });
    const stream = await subscribe({ app: here, channel: "chat", topics: ["words"] });
    onTestFinished(() => stream.close());
    const say = (client: Inngest, data: unknown) =>
      client["inngestApi"].publish({ channel: "chat", topics: ["words"] }, data);
    await say(there, "not for you");
    await say(here, "for you");
    expect(await take(stream, 1)).toMatchObject([{ data: "for you" }]);
  });
});

test("a subscriber comes back with its place, by Last-Event-ID or in the query, and hears what it missed", async () => {
  const { origin } = await serve();
  const client = clientOf(origin);
  const say = (n: number) => client["inngestApi"].publish({ channel: "chat", topics: ["words"] }, { n });
  const token = await client.realtime.token({ channel: "chat", topics: ["words"] });
  const next = await framesOf(origin, token);
  await say(1);
  const { place } = await next();
  await say(2);
  await say(3);
  const again = new WebSocket(`${origin.replace("http", "ws")}/v1/realtime/connect?token=${token.key}&from=${place}`);
  onTestFinished(() => again.terminate());
  const heard: string[] = [];
  again.on("message", (data) => heard.push(String(data)));
  await expect.poll(() => heard.map((frame) => JSON.parse(frame).data?.n)).toEqual([undefined, 2, 3]);
  const url = `${origin}/v1/realtime/sse?token=${token.key}`;
  const answer = await fetch(url, { headers: { "last-event-id": place } });
  let text = "";
  for await (const piece of answer.body!) {
    text += Buffer.from(piece);
    if (text.includes('"n":3}')) break;
  }
  expect([...text.matchAll(/"n":(\d)/g)].map(([, n]) => n)).toEqual(["2", "3"]);
  for (const from of ["yesterday", "1.2", "-1", ""]) {
    expect((await fetch(`${url}&from=${from}`)).status).toBe(400);
  }
});

test("a message that is too large, and a request without channel or topics, are refused with the reason", async () => {
  const { origin } = await serve();
  const publish = async (query: string, body: string) => {
    const answer = await fetch(`${origin}/v1/realtime/publish?${query}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
    });
    return [answer.status, ((await answer.json()) as { error?: string }).error ?? ""] as const;
  };
  expect(await publish("channel=a&topic=b", "x".repeat(513 * 1024))).toEqual([413, expect.stringContaining("524288")]);
  expect(await publish("topic=b", "1")).toEqual([400, expect.stringContaining('"channel"')]);
  expect(await publish("channel=a", "1")).toEqual([400, expect.stringContaining("topics")]);
});

test("a WebSocket that nobody reads holds nothing up: its neighbour hears everything, and it does once it reads", async () => {
  const { origin, world } = await serve();
  const client = clientOf(origin);
  const token = await client.realtime.token({ channel: "chat", topics: ["words"] });
  const next = await framesOf(origin, token);
  const stuck = new WebSocket(`${origin.replace("http", "ws")}/v1/realtime/connect?token=${token.key}`);
  onTestFinished(() => stuck.terminate());
  await once(stuck, "open");
  stuck.pause();
  expect(world.channels.count).toBe(2);
  // More than the buffers of both ends of a socket hold.
  const text = "x".repeat(400 * 1024);
  for (let i = 0; i < 60; i++) {
    await client["inngestApi"].publish({ channel: "chat", topics: ["words"] }, { i, text });
    expect((await next()).data.i).toBe(i);
  }
  expect(world.channels.count).toBe(2);
  const heard: number[] = [];
  const gaps: unknown[] = [];
  stuck.on("message", (data) => {
    const { kind, data: said } = JSON.parse(String(data));
    if (kind === "data") heard.push(said.i);
    if (kind === "gap") gaps.push(said);
  });
  stuck.resume();
  await expect.poll(() => heard.at(-1)).toBe(59);
  // It heard of what the channel's buffer could not keep.
  expect([gaps.length, [...heard].sort((a, b) => a - b)]).toEqual([1, heard]);
});

test("when the server stops, subscribers are told and let go", async () => {
  const server = await serve();
  const client = clientOf(server.origin);
  const { key } = await client.realtime.token({ channel: "chat", topics: ["words"] });
  const socket = new WebSocket(`${server.origin.replace("http", "ws")}/v1/realtime/connect?token=${key}`);
  const frames: string[] = [];
  socket.on("message", (data) => frames.push(String(data)));
  await new Promise((resolve) => socket.once("open", resolve));
  const closed = new Promise<[number, string]>((resolve) => {
    socket.once("close", (code, reason) => resolve([code, String(reason)]));
  });
  const events = await fetch(`${server.origin}/v1/realtime/sse?token=${key}`);
  const said = events.text();
  await server.close();
  expect(await closed).toEqual([1008, "the server is stopping"]);
  expect(frames.map((frame) => JSON.parse(frame))).toEqual([
    { kind: "sub", place: expect.any(String) },
    { kind: "closing", data: { reason: "the server is stopping" } },
  ]);
  expect(await said).toContain("the server is stopping");
});

test("a refused upgrade is closed from this side, also for a client that keeps its end open", async () => {
  const { origin } = await serve(withKeys);
  const refused = Array.from({ length: 50 }, async () => {
    const socket = connect({ port: Number(new URL(origin).port), host: "127.0.0.1", allowHalfOpen: true });
    onTestFinished(() => void socket.destroy());
    socket.on("error", () => {});
    socket.write(
      "GET /v1/realtime/connect?token=nonsense HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: websocket\r\n" +
        "sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
    );
    const [answer] = (await once(socket, "data")) as [Buffer];
    expect(String(answer)).toMatch(/^HTTP\/1\.1 401 /);
  });
  await Promise.all(refused);
  const held = async () => {
    const metrics = await fetch(`${origin}/metrics`, { headers: { authorization: `Bearer ${signingKey}` } });
    return /idem_http_under_way\{kind="socket"\} (\d+)/.exec(await metrics.text())?.[1];
  };
  await expect.poll(held).toBe("0");
});
