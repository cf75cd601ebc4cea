// The bytes of a request reach the fingerprint, and then the parser, as they came.
import { once } from "node:events";
import { createServer } from "node:http";
import { connect } from "node:net";
import { gzipSync } from "node:zlib";
import express from "express";
import { expect, test } from "vitest";
import { keepRawBody, idempotent as onExpress } from "../../../express.ts";
import { listening } from "../../../serve/listening.suite.ts";
import type { Idempotency } from "../idempotency.ts";
import { keysOf, post, route } from "./asking.suite.ts";

async function expressApp(set: (app: express.Express, keys: Idempotency) => void): Promise<string> {
  const app = express();
  app.set("env", "test");
  set(app, keysOf());
  return listening(createServer(app));
}

test("parsers behind the door find the body as it came: JSON, forms, text, bytes, and whoever reads the stream", async () => {
  const seen: unknown[] = [];
  const url = await expressApp((app, keys) => {
    const tell = (request: express.Request, response: express.Response) => {
      seen.push(Buffer.isBuffer(request.body) ? request.body.toString("hex") : request.body);
      response.json(seen.length);
    };
    app.post("/json", onExpress(keys, route), express.json(), tell);
    app.post("/form", onExpress(keys, route), express.urlencoded({ extended: true }), tell);
    app.post("/text", onExpress(keys, route), express.text(), tell);
    app.post("/raw", onExpress(keys, route), express.raw(), tell);
    app.post("/events", onExpress(keys, route), (request, response) => {
      let text = "";
      request.on("data", (chunk) => {
        text += chunk;
      });
      request.on("end", () => {
        seen.push(text);
        response.end();
      });
    });
  });
  await post(`${url}/json`, "k", '{"a":1}');
  await post(`${url}/json`, "zipped", gzipSync('{"a":2}'), { "content-encoding": "gzip" });
  await post(`${url}/form`, "k", "a[b]=1", { "content-type": "application/x-www-form-urlencoded" });
  await post(`${url}/text`, "k", "hello", { "content-type": "text/plain" });
  await post(`${url}/raw`, "k", Buffer.from([255, 0]), { "content-type": "application/octet-stream" });
  await post(`${url}/events`, "k", "x".repeat(200_000), { "content-type": "text/plain" });
  expect(seen).toEqual([{ a: 1 }, { a: 2 }, { a: { b: "1" } }, "hello", "ff00", "x".repeat(200_000)]);
});

test("a body that was announced and is empty still ends for whoever reads it", async () => {
  const url = await expressApp((app, keys) => {
    app.post("/", onExpress(keys, route), (request, response) => {
      request.on("data", () => {});
      request.on("end", () => response.end("ended"));
    });
  });
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.end(
    "POST / HTTP/1.1\r\nhost: a\r\nconnection: close\r\nidempotency-key: k\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
  );
  const [answer] = await once(socket, "data");
  expect(String(answer)).toContain("ended");
});

test("behind a parser that kept the bytes the key is compared by them", async () => {
  let executed = 0;
  const url = await expressApp((app, keys) => {
    app.use(express.json({ verify: keepRawBody }));
    app.post("/", onExpress(keys, route), (request, response) => void response.json([++executed, request.body]));
  });
  const zipped = (text: string) => post(url, "k", gzipSync(text), { "content-encoding": "gzip" });
  expect(await (await zipped('{"a":9007199254740993}')).json()).toEqual([1, { a: 9007199254740992 }]);
  expect((await zipped('{"a":9007199254740993}')).headers.get("idempotent-replayed")).toBe("true");
  expect((await zipped('{"a":9007199254740992}')).status).toBe(422);
  expect(executed).toBe(1);
});

test("behind a parser that kept nothing a request is refused, with the way out", async () => {
  let executed = 0;
  const told: unknown[] = [];
  const url = await expressApp((app, keys) => {
    app.use(express.json());
    app.post("/", onExpress(keys, route), (_request, response) => void response.json(++executed));
    app.use((error: unknown, _request: unknown, response: express.Response, _next: unknown) => {
      told.push(error);
      response.status(500).end();
    });
  });
  expect((await post(url, "k", '{"a":1}')).status).toBe(500);
  expect(told).toMatchObject([{ code: "BODY_ALREADY_READ", message: expect.stringContaining("keepRawBody") }]);
  expect(executed).toBe(0);
});

test("an upload with a new boundary is the same request, and is read from the stream by whoever parses it", async () => {
  let executed = 0;
  const url = await expressApp((app, keys) => {
    app.post("/", onExpress(keys, route), async (request, response) => {
      let size = 0;
      for await (const chunk of request) size += chunk.length;
      response.json([++executed, size > 1_000]);
    });
  });
  const upload = () => {
    const form = new FormData();
    form.set("file", new Blob(["x".repeat(1_000)]), "a.txt");
    return post(url, "k", form);
  };
  expect(await (await upload()).json()).toEqual([1, true]);
  expect((await upload()).headers.get("idempotent-replayed")).toBe("true");
  expect(executed).toBe(1);
});
