// Doors on Node's request and response leave everything around them intact: parsers, error handlers, other requests on the line.
import { once } from "node:events";
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { connect as connectHttp2, createServer as createHttp2Server } from "node:http2";
import { type AddressInfo, connect, type Socket } from "node:net";
import { gzipSync } from "node:zlib";
import fastify from "fastify";
import { expect, onTestFinished, test } from "vitest";
import { idempotent as onFastify } from "../../../fastify.ts";
import { idempotent as onNode } from "../../../node.ts";
import { listening } from "../../../serve/listening.suite.ts";
import { held } from "../../../testing/one-run.suite.ts";
import { memoryKeys } from "../../keys/memory-keys.ts";
import { keysOf, post, route } from "./asking.suite.ts";

test("a handler sees its response as Node would show it: begun, ended, and not to be begun again", async () => {
  const seen: unknown[] = [];
  const listener = onNode(keysOf(), route, async (_request, response) => {
    seen.push(response.headersSent, response.writableEnded);
    response.writeHead(202, { "x-a": ["1", "2"] });
    seen.push(
      response.headersSent,
      codeOf(() => response.setHeader("x-b", "1")),
      codeOf(() => response.writeHead(200)),
    );
    const finished = once(response, "finish");
    response.end("done", () => seen.push("told"));
    seen.push(response.writableEnded, response.end("again") === response);
    await finished;
  });
  const response = await post(await listening(createServer(listener)), "k");
  expect([response.status, response.headers.get("x-a"), await response.text()]).toEqual([202, "1, 2", "done"]);
  expect(seen).toEqual([false, false, true, "ERR_HTTP_HEADERS_SENT", "ERR_HTTP_HEADERS_SENT", true, true, "told"]);
});

test("a connection that serves many requests is not filled with listeners", async () => {
  const sockets = new Set<Socket>();
  const listener = onNode(keysOf(), route, (_request, response) => void response.end("done"));
  const server = createServer((request, response) => {
    sockets.add(request.socket);
    void listener(request, response);
  });
  const url = await listening(server);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  const counts: number[] = [];
  for (let asked = 0; asked < 4; asked++) {
    const asking = request(url, { agent, method: "POST", headers: { "idempotency-key": `k-${asked}` } }).end();
    const [answer] = (await once(asking, "response")) as [IncomingMessage];
    await once(answer.resume(), "end");
    counts.push([...sockets][0]!.listenerCount("close"));
  }
  expect([sockets.size, counts[3]]).toEqual([1, counts[0]]);
});

test("a handler that throws leaves nothing of what it meant to say on the failure", async () => {
  const listener = onNode(keysOf(), route, (_request, response) => {
    response.setHeader("set-cookie", "session=secret");
    response.statusCode = 201;
    throw new Error("no");
  });
  const url = await listening(createServer(listener));
  for (const status of ["executed", "replayed"]) {
    const response = await post(url, "k");
    expect([response.status, response.headers.getSetCookie()]).toEqual([500, []]);
    expect(response.headers.get("idempotency-status")).toBe(status);
    expect(response.headers.get("content-type")).toBe("application/problem+json");
  }
});

test("requests in one connection are answered in their order, also while the first is saved", async () => {
  const middle = held();
  const listener = onNode(keysOf(), { ...route, required: false }, async (request, response) => {
    if (request.idempotency !== undefined) await middle.promise;
    else middle.release();
    response.end(request.url);
  });
  const { hostname, port } = new URL(await listening(createServer(listener)));
  const socket = connect(Number(port), hostname);
  const one = (path: string, head: string) => `POST ${path} HTTP/1.1\r\nhost: a\r\ncontent-length: 0\r\n${head}\r\n`;
  socket.write(one("/first", "idempotency-key: k\r\n") + one("/second", "") + one("/third", "connection: close\r\n"));
  let text = "";
  socket.on("data", (chunk) => {
    text += chunk;
  });
  await once(socket, "close");
  expect(text.match(/\/(first|second|third)/g)).toEqual(["/first", "/second", "/third"]);
});

test("a response that somebody else has recorded meanwhile is replaced by theirs", async () => {
  const keys = memoryKeys();
  const idem = keysOf({ keys: { ...keys, complete: async () => "lost", read: async () => recorded } });
  const recorded = {
    id: "",
    about: { namespace: "", tenant: null, principal: "", method: "POST", path: "/", hint: "" },
    state: "completed",
    fence: 2,
    attempts: 2,
    isLeased: false,
    point: null,
    work: null,
    outcome: { kind: "response", status: 201, headers: [["content-type", "text/plain"]], body: Buffer.from("theirs") },
    parkedReason: null,
    createdAt: 0,
    completedAt: 0,
    endsAt: 1,
  } as const;
  const listener = onNode(idem, route, (_request, response) => {
    response.setHeader("x-mine", "1");
    response.end("mine");
  });
  const response = await post(await listening(createServer(listener)), "k");
  expect([response.status, await response.text(), response.headers.get("x-mine")]).toEqual([201, "theirs", null]);
  expect(response.headers.get("idempotent-replayed")).toBe("true");
});

test("where too much was sent to be replaced, the connection is cut before its end", async () => {
  const keys = memoryKeys();
  const idem = keysOf({ keys: { ...keys, complete: async () => "lost" } });
  const listener = onNode(idem, { ...route, responseBytesMax: 10 }, (_request, response) => {
    response.writeHead(200, { "content-length": 40 });
    response.write("x".repeat(20));
    response.end("y".repeat(20));
  });
  const url = await listening(createServer(listener));
  await expect(post(url, "k").then((response) => response.text())).rejects.toThrow();
});

test("compression around the door meets the first response and its replay alike, and the record is not compressed", async () => {
  const keys = memoryKeys();
  const completed: unknown[] = [];
  const idem = keysOf({
    keys: {
      ...keys,
      complete: (holder, outcome, windowMs) => {
        completed.push(outcome.kind === "response" && Buffer.from(outcome.body!).toString());
        return keys.complete(holder, outcome, windowMs);
      },
    },
  });
  const listener = onNode(idem, route, (_request, response) => void response.end("plain ".repeat(100)));
  const url = await listening(
    createServer((request, response) => {
      compress(request, response);
      void listener(request, response);
    }),
  );
  const texts: unknown[] = [];
  for (let asked = 0; asked < 2; asked++) {
    const response = await post(url, "k");
    texts.push([response.headers.get("content-encoding"), await response.text()]);
  }
  expect(texts).toEqual([
    ["gzip", "plain ".repeat(100)],
    ["gzip", "plain ".repeat(100)],
  ]);
  expect(completed).toEqual(["plain ".repeat(100)]);
});

test("what a handler compressed itself is replayed to a client that takes none", async () => {
  const listener = onNode(keysOf(), route, (_request, response) => {
    response.writeHead(200, { "content-encoding": "gzip", "content-type": "text/plain" });
    response.end(gzipSync("plain"));
  });
  const url = await listening(createServer(listener));
  expect(await (await post(url, "k")).text()).toBe("plain");
  const second = await post(url, "k");
  expect([second.headers.get("content-encoding"), await second.text()]).toEqual([null, "plain"]);
});

test("events without an end reach their reader as they come, and are recorded as gone before the first", async () => {
  const middle = held();
  const listener = onNode(keysOf(), route, async (_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write("data: 1\n\n");
    await middle.promise;
    response.end("data: 2\n\n");
  });
  const url = await listening(createServer(listener));
  const first = await post(url, "k");
  const reader = first.body!.getReader();
  expect(Buffer.from((await reader.read()).value!).toString()).toBe("data: 1\n\n");
  expect((await post(url, "k")).status).toBe(410);
  middle.release();
  expect(Buffer.from((await reader.read()).value!).toString()).toBe("data: 2\n\n");
  expect((await reader.read()).done).toBe(true);
});

test("a Fastify route validates before the claim, and its refusal is not stored", async () => {
  const app = fastify({ forceCloseConnections: true });
  onTestFinished(() => app.close());
  const schema = { body: { type: "object", required: ["amount"] } };
  let executed = 0;
  app.post("/", { schema, ...onFastify(keysOf(), route) }, async () => ({ executed: ++executed }));
  const url = await app.listen({ port: 0, host: "127.0.0.1" });
  expect((await post(url, "k", '{"price":1}')).status).toBe(400);
  expect(await (await post(url, "k", '{"amount":1}')).json()).toEqual({ executed: 1 });
});

test("a client that leaves while its key is claimed leaves no record, and its retry executes", async () => {
  const keys = memoryKeys();
  const [claiming, claimed] = [held(), held()];
  const idem = keysOf({
    keys: {
      ...keys,
      async claim(ask) {
        claiming.release();
        await claimed.promise;
        return keys.claim(ask);
      },
    },
  });
  let executed = 0;
  const gone = held();
  const listener = onNode(idem, route, (_request, response) => void response.end(String(++executed)));
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    request.socket.once("close", () => gone.release());
    void listener(request, response);
  });
  const url = await listening(server);
  const leaving = new AbortController();
  const first = fetch(url, { method: "POST", headers: { "idempotency-key": "k" }, signal: leaving.signal }).catch(
    () => null,
  );
  await claiming.promise;
  leaving.abort();
  await Promise.all([first, gone.promise]);
  claimed.release();
  const retry = await fetch(url, { method: "POST", headers: { "idempotency-key": "k", prefer: "wait=10" } });
  expect([await retry.text(), retry.headers.get("idempotency-status")]).toEqual(["1", "executed"]);
});

test("a request over HTTP/2 is refused before anything is executed", async () => {
  let executed = 0;
  const listener = onNode(keysOf(), route, (_request, response) => void response.end(String(++executed)));
  const server = createHttp2Server(listener as never).listen(0, "127.0.0.1");
  await once(server, "listening");
  const client = connectHttp2(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  onTestFinished(() => {
    client.destroy();
    server.close();
  });
  const stream = client.request({ ":method": "POST", "idempotency-key": "k" });
  stream.end("{}");
  const [head] = await once(stream, "response");
  expect([head[":status"], executed]).toEqual([500, 0]);
});

function codeOf(act: () => unknown): unknown {
  try {
    act();
    return null;
  } catch (error) {
    return (error as { code?: unknown }).code;
  }
}

/** As compression middleware does it: its own `end` on the response, and the head changed when it is written. */
function compress(_request: IncomingMessage, response: ServerResponse): void {
  const { end } = response;
  response.end = ((chunk: unknown) => {
    response.setHeader("content-encoding", "gzip");
    response.removeHeader("content-length");
    return end.call(response, gzipSync(chunk as Buffer), "utf8");
  }) as typeof response.end;
}
