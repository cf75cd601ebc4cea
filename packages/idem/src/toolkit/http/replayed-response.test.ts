// The parts of a response that are kept, and those another caller gets.
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { keyedApi, told } from "./keyed-api.suite.ts";

const stream = (chunks: readonly Uint8Array[], end: "closes" | "breaks" = "closes") =>
  new ReadableStream<Uint8Array>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      if (end === "closes") controller.close();
    },
    pull(controller) {
      if (end === "breaks") controller.error(new Error("the upstream is gone"));
    },
  });
const text = (value: string) => new TextEncoder().encode(value);

describe("bodies", () => {
  // pitfall 14
  test.each([
    ["no body at all", () => new Response(null, { status: 204 }), null],
    ["an empty body", () => new Response("", { status: 200 }), []],
    ["bytes that are no text", () => new Response(new Uint8Array([0xff, 0xfe, 0x00, 0x80])), [0xff, 0xfe, 0, 0x80]],
  ])("%s is replayed as it was", async (_, make, bytes) => {
    const api = keyedApi(make);
    const first = await api.ask();
    const again = await api.ask();
    expect(again.status).toBe(first.status);
    expect(again.body === null).toBe(bytes === null);
    expect([...new Uint8Array(await again.arrayBuffer())]).toEqual(bytes ?? []);
    expect(api.count()).toBe(1);
  });

  // pitfall 25
  test("a streamed response within the limit is replayed whole", async () => {
    const api = keyedApi(() => new Response(stream([text("a"), text("b")])));
    expect(await (await api.ask()).text()).toBe("ab");
    expect(await (await api.ask()).text()).toBe("ab");
    expect(api.count()).toBe(1);
  });

  // pitfalls 4 and 25
  test("a response over the limit reaches its caller whole, and a retry is told 410 and never executes", async () => {
    const chunk = new Uint8Array(1_024 * 1_024).fill(7);
    const api = keyedApi(() => new Response(stream([chunk, chunk, chunk, chunk, chunk]), { status: 201 }));
    const first = await api.ask();
    expect((await first.arrayBuffer()).byteLength).toBe(5 * 1_024 * 1_024);
    const again = await api.ask();
    expect(again.headers.get("cache-control")).toBe("no-store");
    const problem = (await again.clone().json()) as Record<string, unknown>;
    expect(problem.original_status).toBe(201);
    expect(problem.completed_at).toBe(new Date(api.platform.wallMs()).toISOString());
    expect(await told(again)).toEqual({ status: 410, kind: "response-gone", retryable: false });
    expect(api.count()).toBe(1);
  });

  test("a response over the limit is recorded before its last chunk leaves", async () => {
    const api = keyedApi(() => new Response(stream([text("aaaa"), text("bbbb"), text("cccc")])), {
      route: { responseBytesMax: 5 },
    });
    const reader = (await api.ask()).body!.getReader();
    const decode = ({ value }: { value?: Uint8Array }) => new TextDecoder().decode(value);
    expect(decode(await reader.read())).toBe("aaaa");
    let rest = "";
    for (;;) {
      const chunk = await reader.read();
      if (chunk.done) break;
      rest += decode(chunk);
      if (rest.endsWith("cccc")) expect((await api.ask()).status).toBe(410);
    }
    expect(rest).toBe("bbbbcccc");
  });

  test("a caller who leaves in the middle of a large response changes nothing of its record", async () => {
    const api = keyedApi(() => new Response(stream([text("aaaa"), text("bbbb"), text("cccc")])), {
      route: { responseBytesMax: 5 },
    });
    const reader = (await api.ask()).body!.getReader();
    await reader.read();
    await reader.cancel();
    expect((await api.ask()).status).toBe(410);
    expect(api.count()).toBe(1);
  });

  test("a large response can be put elsewhere, and is replayed from there while it is what was put", async () => {
    const files = new Map<string, Uint8Array>();
    const overflow = {
      put: async (id: string, bytes: Uint8Array) => {
        files.set(id, bytes);
        return id;
      },
      get: async (reference: string) => files.get(reference) ?? null,
    };
    const api = keyedApi(() => new Response("a large one"), { route: { responseBytesMax: 5, overflow } });
    await api.ask();
    expect(await (await api.ask()).text()).toBe("a large one");
    for (const id of files.keys()) files.set(id, text("another one"));
    expect((await api.ask()).status).toBe(410);
    files.clear();
    expect((await api.ask()).status).toBe(410);
    expect(api.count()).toBe(1);
  });

  test("an answer that must not be kept is made again from a reference", async () => {
    const api = keyedApi(() => Response.json({ id: 7, token: "tok_secret" }), {
      route: {
        rebuild: {
          reference: ({ bytes }) => String((JSON.parse(new TextDecoder().decode(bytes!)) as { id: number }).id),
          rebuild: async (reference) => JSON.stringify({ id: Number(reference), token: null }),
        },
      },
    });
    await api.ask();
    expect(await (await api.ask()).json()).toEqual({ id: 7, token: null });
    expect(api.count()).toBe(1);
  });

  // pitfall 25
  test("events without an end pass through, and a retry is told 410", async () => {
    const api = keyedApi(
      () => new Response(stream([text("data: 1\n\n")]), { headers: { "content-type": "text/event-stream" } }),
    );
    expect(await (await api.ask()).text()).toBe("data: 1\n\n");
    expect((await api.ask()).status).toBe(410);
    expect(api.logged.join()).toContain("text/event-stream");
  });

  test("a body that breaks off is a failure, and a retry gets the same one", async () => {
    const api = keyedApi(() => new Response(stream([text("a")], "breaks")));
    expect((await api.ask()).status).toBe(500);
    expect((await api.ask()).headers.get("idempotent-replayed")).toBe("true");
    expect(api.count()).toBe(1);
  });

  test("a large body that breaks off on the way breaks off for its caller, and a retry is told 410", async () => {
    const api = keyedApi(() => new Response(stream([text("aaaa"), text("bbbb")], "breaks")), {
      route: { responseBytesMax: 5 },
    });
    await expect((await api.ask()).text()).rejects.toThrow("upstream");
    expect((await api.ask()).status).toBe(410);
  });

  test("is kept as it was before its content-coding", async () => {
    const zipped = gzipSync("hello");
    const api = keyedApi(() => new Response(zipped, { headers: { "content-encoding": "gzip" } }));
    const first = await api.ask();
    expect(first.headers.get("content-encoding")).toBe("gzip");
    const again = await api.ask();
    expect(again.headers.get("content-encoding")).toBeNull();
    expect(await again.text()).toBe("hello");
  });
});

describe("a seal", () => {
  const flip = (bytes: Uint8Array) => bytes.map((byte) => byte ^ 0xff);

  test("keeps bodies from whoever reads the records, and changes nothing for callers", async () => {
    const kept: string[] = [];
    const seal = {
      seal: (bytes: Uint8Array) => flip(bytes),
      open: (bytes: Uint8Array) => flip(bytes),
    };
    const api = keyedApi(() => Response.json({ token: "tok_1" }), { seal, replayCache: { entries: 10 } });
    const complete = api.keys.complete.bind(api.keys);
    api.keys.complete = (holder, outcome, windowMs) => {
      if (outcome.kind === "response") kept.push(new TextDecoder().decode(outcome.body!));
      return complete(holder, outcome, windowMs);
    };
    await api.ask();
    for (const _ of ["from the store", "from the cache"]) {
      const again = await api.ask();
      expect(await again.json()).toEqual({ token: "tok_1" });
      expect(again.headers.get("idem-sealed")).toBeNull();
    }
    expect(kept.join()).not.toContain("tok_1");

    const without = keyedApi(() => new Response(), { keys: api.keys, platform: api.platform });
    expect((await without.ask()).status).toBe(503);
    expect(without.count()).toBe(0);
  });
});

describe("headers", () => {
  // pitfall 20
  test("of an answer that is not the handler's own can be made for the one who asks", async () => {
    const onAnswer = (headers: Headers, request: Request) =>
      headers.set("access-control-allow-origin", request.headers.get("origin") ?? "");
    const api = keyedApi(() => new Response("ok"), { route: { onAnswer } });
    await api.ask({ headers: { origin: "https://a.test" } });
    const from = { headers: { origin: "https://b.test" } };
    const [replay, mismatch, missing] = [
      await api.ask(from),
      await api.ask({ ...from, body: "{}" }),
      await api.ask({ ...from, key: null }),
    ];
    expect([replay.status, mismatch.status, missing.status]).toEqual([200, 422, 400]);
    for (const { headers } of [replay, mismatch, missing]) {
      expect(headers.get("access-control-allow-origin")).toBe("https://b.test");
    }
  });

  // pitfall 20
  test("cookies, CORS and traces of the first request are not told to the second", async () => {
    const headers: [string, string][] = [
      ["content-type", "application/json"],
      ["location", "/charges/1"],
      ["etag", '"1"'],
      ["set-cookie", "session=1"],
      ["access-control-allow-origin", "https://a.test"],
      ["vary", "origin"],
      ["x-request-id", "r1"],
      ["x-total", "10"],
      ["x-plan", "pro"],
    ];
    const api = keyedApi(() => new Response("{}", { headers }), { route: { replayHeaders: ["X-Total"] } });
    const first = await api.ask();
    expect(first.headers.get("set-cookie")).toBe("session=1");
    const names = [...(await api.ask()).headers.keys()].filter((name) => !name.startsWith("idempoten"));
    expect(names.sort()).toEqual(["content-type", "etag", "location", "x-total"]);
  });

  // pitfall 11
  test("a record with headers that nobody could have sent is replayed without them", async () => {
    const api = keyedApi(() => new Response("ok"));
    await api.ask();
    const real = api.keys.claim.bind(api.keys);
    api.keys.claim = async (ask) => {
      const answer = await real(ask);
      if (answer.kind !== "duplicate" || answer.outcome.kind !== "response") return answer;
      const headers: [string, string][] = [
        ["location", "/x\r\nset-cookie: a=1"],
        ["set-cookie", "a=1"],
        ["x y", "1"],
        ["link", "</docs>"],
      ];
      return { ...answer, outcome: { ...answer.outcome, headers } };
    };
    const again = await api.ask();
    expect([...again.headers.keys()].filter((name) => !name.startsWith("idempoten"))).toEqual(["link"]);
  });

  // pitfall 11
  test("the toolkit's own headers in a request are nobody's state", async () => {
    const api = keyedApi(() => new Response("ok"));
    const forged = { "idempotent-replayed": "true", "idempotency-status": "replayed" };
    const answer = await api.ask({ headers: forged });
    expect(answer.headers.get("idempotency-status")).toBe("executed");
    expect(api.count()).toBe(1);
  });
});
