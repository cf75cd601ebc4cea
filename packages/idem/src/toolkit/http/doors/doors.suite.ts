// The promises of every door, asked through real sockets. Runs over any key store.
import { once } from "node:events";
import { connect } from "node:net";
import { describe, expect, test } from "vitest";
import { held } from "../../../testing/one-run.suite.ts";
import type { KeyStore } from "../../keys/key-store.ts";
import type { RouteOptions } from "../begin.ts";
import { type Idempotency, idempotency } from "../idempotency.ts";
import { binary, type Deed, type Door, databaseDoors, largeBytes, type Shop } from "./served-doors.suite.ts";

const replayedHeaders = ["content-type", "location", "content-length"];
const silent = { debug() {}, info() {}, warn() {}, error() {} };

interface Served {
  readonly url: string;
  readonly shop: Shop & { during: () => Promise<void> | void };
  readonly idem: Idempotency;
  send(deed: Deed, key: string | null, init?: Sending): Promise<Response>;
}

interface Sending {
  readonly body?: string;
  readonly headers?: Record<string, string>;
  readonly signal?: AbortSignal;
}

async function serve(door: Door, keys: KeyStore, route: Partial<RouteOptions> = {}): Promise<Served> {
  const shop: Served["shop"] = { executed: [], during: () => {} };
  const principal = (request: Request) => {
    const who = request.headers.get("authorization") ?? "alice";
    if (who === "revoked") throw new Response("no more", { status: 403 });
    return who;
  };
  const idem = idempotency({ keys, principal, logger: silent, drainWithin: 1 });
  const url = await door.open(idem, { onCrash: "park", ...route }, shop);
  return {
    url,
    shop,
    idem,
    send: (deed, key, { body = '{"amount":1}', headers = {}, signal } = {}) =>
      fetch(`${url}?deed=${deed}`, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          ...(key === null ? {} : { "idempotency-key": key }),
          ...headers,
        },
        body,
        ...(signal === undefined ? {} : { signal }),
      }),
  };
}

/** A request by its bytes, on a connection of its own; everything that came back. */
async function sendRaw(url: string, head: readonly string[], body = "{}"): Promise<string> {
  const { hostname, port, pathname } = new URL(url);
  const socket = connect(Number(port), hostname);
  const lines = [`POST ${pathname} HTTP/1.1`, "host: shop.test", "connection: close", `content-length: ${body.length}`];
  // Not ended: Node takes a client that has closed its half for one that left.
  socket.write(
    Buffer.from(`${[...lines, "content-type: application/json", ...head].join("\r\n")}\r\n\r\n${body}`, "latin1"),
  );
  let answer = "";
  socket.on("data", (chunk) => {
    answer += chunk.toString("latin1");
  });
  socket.on("error", () => {});
  await once(socket, "close");
  return answer;
}

const bytesOf = async (response: Response) => Buffer.from(await response.arrayBuffer());

export function doorSuite(openKeys: () => KeyStore | Promise<KeyStore>, served: readonly Door[] = databaseDoors): void {
  for (const door of served) describe(door.name, () => doorTests(door, openKeys));
}

function doorTests(door: Door, openKeys: () => KeyStore | Promise<KeyStore>): void {
  // Pitfalls 14 and 25.
  test("a retry gets the status and bytes of the first response: JSON, none, empty, binary, written, piped, a file", async () => {
    const { send, shop } = await serve(door, await openKeys());
    for (const deed of ["json", "no-content", "empty", "binary", "written", "piped", "file"] as const) {
      const first = await send(deed, deed);
      const second = await send(deed, deed);
      expect([deed, first.headers.get("idempotency-status")]).toEqual([deed, "executed"]);
      expect(first.headers.get("idempotent-replayed")).toBeNull();
      expect([deed, second.headers.get("idempotent-replayed")]).toEqual([deed, "true"]);
      const bytes = await bytesOf(first);
      expect([deed, second.status, await bytesOf(second)]).toEqual([deed, first.status, bytes]);
      for (const name of replayedHeaders) {
        expect([deed, name, second.headers.get(name)]).toEqual([deed, name, first.headers.get(name)]);
      }
      if (deed === "binary") expect(bytes).toEqual(binary);
      if (deed === "piped" || deed === "file") expect(bytes.toString()).toBe("one two three");
      expect(shop.executed.splice(0)).toEqual([{ deed, body: '{"amount":1}', attempt: 1 }]);
    }
  });

  test("a response too large to keep reaches its caller whole, and a retry is told that it is gone", async () => {
    const { send, shop } = await serve(door, await openKeys());
    const first = await send("large", "k-1");
    expect((await bytesOf(first)).length).toBe(largeBytes);
    const second = await send("large", "k-1");
    expect(await problemOf(second)).toMatchObject({ status: 410, type: "urn:idem:problem:response-gone" });
    expect(shop.executed.length).toBe(1);
  });

  // Pitfall 2.
  test("fifty requests at once with one key execute once; the others hear of a conflict, then get its answer", async () => {
    const { send, shop } = await serve(door, await openKeys());
    const middle = held();
    shop.during = () => middle.promise;
    let refused = 0;
    const answers = await Promise.all(
      Array.from({ length: 50 }, async () => {
        const response = await send("json", "k-1");
        const bytes = await bytesOf(response);
        if (response.status === 409 && ++refused === 49) middle.release();
        return { status: response.status, text: bytes.toString() };
      }),
    );
    expect(shop.executed.length).toBe(1);
    expect(answers.filter(({ status }) => status === 201).length).toBe(1);
    expect(answers.filter(({ status }) => status === 409).length).toBe(49);
    const again = await send("json", "k-1");
    expect(await again.text()).toBe(answers.find(({ status }) => status === 201)!.text);
  });

  test("a duplicate that waits gets the answer of the first", async () => {
    const { send, shop } = await serve(door, await openKeys(), { onDuplicate: "wait" });
    const [middle, inside] = [held(), held()];
    shop.during = () => {
      inside.release();
      return middle.promise;
    };
    const first = send("json", "k-1");
    await inside.promise;
    const second = send("json", "k-1");
    middle.release();
    expect([(await first).status, (await second).status]).toEqual([201, 201]);
    expect((await second).headers.get("idempotent-replayed")).toBe("true");
    expect(shop.executed.length).toBe(1);
  });

  // Pitfalls 8 and 11.
  test("odd keys are refused or kept apart as they came", async () => {
    const { url, shop } = await serve(door, await openKeys());
    const statusOf = async (...lines: string[]) => Number((await sendRaw(url, lines)).slice(9, 12));
    const refusedLines = [
      ["idempotency-key: "],
      ["idempotency-key: a b"],
      ["idempotency-key: a,b"],
      ['idempotency-key: "a", "b"'],
      ["idempotency-key: caf\u00e9"],
      ["idempotency-key: caf\u00c3\u00a9"],
      ['idempotency-key: "a\tb"'],
      ["idempotency-key: a\\b"],
      [`idempotency-key: ${"x".repeat(256)}`],
      ["idempotency-key: a", "idempotency-key: b"],
      ["idempotency-key: a", "Idempotency-Key: a"],
      ["idempotency-key: a\rx-forged: 1"],
      ["idempotency-key: a\u0001b"],
      [],
    ];
    for (const lines of refusedLines) expect([lines, await statusOf(...lines)]).toEqual([lines, 400]);
    expect(shop.executed.length).toBe(0);
    for (const line of ['"8e03978e"', "8e03978e", '"8e03978e";v=1']) {
      expect([line, await statusOf(`idempotency-key: ${line}`)]).toEqual([line, 201]);
    }
    expect(shop.executed.length).toBe(1);
    expect(await statusOf("idempotency-key: 8E03978E")).toBe(201);
    expect(shop.executed.length).toBe(2);
  });

  test.skipIf(door.joinsLines === true)("two halves of a quoted key on two lines are not one key", async () => {
    const { url, shop } = await serve(door, await openKeys());
    const answer = await sendRaw(url, ['idempotency-key: "a', 'idempotency-key: b"']);
    expect(answer.slice(9, 12)).toBe("400");
    expect(shop.executed.length).toBe(0);
  });

  // Pitfall 10.
  test("one caller never gets another one's answer, and a revoked one gets none", async () => {
    const { send, shop } = await serve(door, await openKeys());
    const as = (who: string, body?: string) =>
      send("json", "k-1", { headers: { authorization: who }, ...(body === undefined ? {} : { body }) });
    expect((await as("alice")).headers.get("idempotency-status")).toBe("executed");
    expect((await as("bob")).headers.get("idempotency-status")).toBe("executed");
    expect((await as("carol", '{"amount":2}')).status).toBe(201);
    expect((await as("alice")).headers.get("idempotency-status")).toBe("replayed");
    expect((await as("revoked")).status).toBe(403);
    expect(shop.executed.length).toBe(3);
  });

  // Pitfall 11.
  test("a client that sends the toolkit's own headers is not believed", async () => {
    const { send, shop } = await serve(door, await openKeys());
    const headers = { "idempotent-replayed": "true", "idempotency-status": "executed", "x-hit": "true" };
    const response = await send("json", "k-1", { headers });
    expect([response.status, response.headers.get("idempotent-replayed")]).toEqual([201, null]);
    expect(shop.executed.length).toBe(1);
  });

  // Pitfall 19.
  test("without its store nothing executes; without it at the end the answer is sent and said to be unstored", async () => {
    const keys = await openKeys();
    const down = async () => {
      throw new Error("connection refused");
    };
    const before = await serve(door, { ...keys, claim: down });
    const refused = await before.send("json", "k-1");
    expect(await problemOf(refused)).toMatchObject({ status: 503, retryable: true });
    expect(refused.headers.get("retry-after")).toBe("1");
    expect(before.shop.executed.length).toBe(0);

    const during = await serve(door, { ...keys, complete: down }, { lease: 90 });
    const unstored = await during.send("json", "k-2");
    expect([unstored.status, unstored.headers.get("idempotency-status")]).toEqual([201, "unstored"]);
    expect(during.shop.executed.length).toBe(1);
  });

  // Pitfall 20.
  test("a replay has no cookie of the first caller, and the CORS answer to its own origin", async () => {
    const { send } = await serve(door, await openKeys());
    const from = (origin: string) => send("cookie", "k-1", { headers: { origin } });
    const first = await from("https://a.test");
    expect(first.headers.getSetCookie().length).toBe(1);
    const second = await from("https://b.test");
    expect(second.headers.get("idempotent-replayed")).toBe("true");
    expect(second.headers.getSetCookie()).toEqual([]);
    expect(second.headers.get("access-control-allow-origin")).toBe("https://b.test");
  });

  // Pitfall 24.
  test("a client that leaves does not end the work, whose answer a retry gets: JSON, piped, a file", async () => {
    const { send, shop } = await serve(door, await openKeys());
    for (const deed of ["json", "piped", "file"] as const) {
      const [middle, inside] = [held(), held()];
      shop.during = () => {
        inside.release();
        return middle.promise;
      };
      const leaving = new AbortController();
      const first = send(deed, deed, { signal: leaving.signal }).catch(() => null);
      await inside.promise;
      leaving.abort();
      expect(await first).toBeNull();
      // Time for the server to notice.
      expect((await send(deed, deed)).status).toBe(409);
      middle.release();
      const again = await send(deed, deed, { headers: { prefer: "wait=10" } });
      expect([deed, again.headers.get("idempotent-replayed")]).toEqual([deed, "true"]);
      expect([deed, again.status]).toEqual([deed, deed === "json" ? 201 : 200]);
      if (deed !== "json") expect(await again.text()).toBe("one two three");
      expect(shop.executed.splice(0).length).toBe(1);
    }
  });

  test("a handler that throws is answered once and not executed again, unless nothing had happened before", async () => {
    const { send, shop } = await serve(door, await openKeys());
    const first = await send("throw", "k-1");
    const second = await send("throw", "k-1");
    expect([first.status, second.status]).toEqual([500, 500]);
    expect(await second.text()).toBe(await first.text());
    expect(second.headers.get("idempotent-replayed")).toBe("true");
    expect(shop.executed.length).toBe(1);
    for (let attempt = 0; attempt < 2; attempt++) {
      const response = await send("throw-before", "k-2");
      expect([response.status, response.headers.get("idempotency-status")]).toEqual([500, "released"]);
    }
  });

  test("a response that breaks off is not executed again", async () => {
    const { send, shop } = await serve(door, await openKeys());
    await send("break", "k-1")
      .then((response) => response.text())
      .catch(() => null);
    const again = await send("break", "k-1", { headers: { prefer: "wait=10" } });
    expect([410, 500]).toContain(again.status);
    expect(shop.executed.length).toBe(1);
  });

  test("a process that stops tells callers of work that may be resumed to come back", async () => {
    const { send, shop, idem } = await serve(door, await openKeys(), { onCrash: "resume" });
    const [middle, inside] = [held(), held()];
    shop.during = () => {
      inside.release();
      return middle.promise;
    };
    const first = send("json", "k-1");
    await inside.promise;
    await idem.drain();
    expect(await problemOf(await first)).toMatchObject({
      status: 503,
      type: "urn:idem:problem:draining",
      retryable: true,
    });
    expect((await send("json", "k-1")).status).toBe(503);
    middle.release();
    expect(shop.executed.length).toBe(1);
  });

  test("what the toolkit answers itself is problem JSON", async () => {
    const { send, shop } = await serve(door, await openKeys(), { requestBytesMax: 1_000 });
    const problem = async (key: string | null, body?: string) =>
      problemOf(await send("json", key, body === undefined ? {} : { body }));
    expect(await problem(null)).toMatchObject({
      status: 400,
      type: "urn:idem:problem:key-missing",
      retryable: false,
    });
    expect(await problem("a b")).toMatchObject({ status: 400, type: "urn:idem:problem:key-invalid" });
    const large = JSON.stringify({ text: "x".repeat(2_000) });
    expect(await problem("k-1", large)).toMatchObject({ status: 413, type: "urn:idem:problem:body-too-large" });
    expect(shop.executed.length).toBe(0);
    await send("json", "k-1");
    expect(await problem("k-1", '{"amount":2}')).toMatchObject({ status: 422, type: "urn:idem:problem:key-reused" });
    expect((await send("json", "k-1")).status).toBe(201);
    expect(shop.executed.length).toBe(1);
  });

  test("where a key is not required, requests without one run each time", async () => {
    const { send, shop } = await serve(door, await openKeys(), { required: false });
    await send("json", null);
    expect((await send("json", null)).status).toBe(201);
    expect(shop.executed.map(({ body }) => body)).toEqual(['{"amount":1}', '{"amount":1}']);
  });
}

async function problemOf(response: Response): Promise<Record<string, unknown>> {
  expect(response.headers.get("content-type")).toBe("application/problem+json");
  const problem = (await response.json()) as Record<string, unknown>;
  expect(problem.status).toBe(response.status);
  return problem;
}
