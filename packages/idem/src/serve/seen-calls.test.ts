// Attacks with calls that were captured on their way to a served app: each holds a signature that is still valid.
import { describe, expect, test } from "vitest";
import { canonicalJson } from "../model/json.ts";
import { UlidSource } from "../model/ulid.ts";
import { readCallReply } from "../protocol/call-reply.ts";
import { signatureHeader, signRequest } from "../protocol/request-signature.ts";
import { type CallNumber, SeenCalls } from "./seen-calls.ts";
import { type CallGiven, callBody, classic, origin, servedWorld, type WorldOptions } from "./served-world.suite.ts";

const key = "4f2a9c0e7b1d8356af03c9e2517bd864";

interface Captured {
  readonly url: string;
  readonly init: { readonly method: string; readonly headers: Record<string, string>; readonly body: string };
}

interface Sent extends CallGiven {
  readonly fn?: string;
  readonly generation?: number;
  readonly requestId?: string;
  /** An official server, which says nothing of what Idem adds. */
  readonly isForeign?: boolean;
}

function attacked(options: WorldOptions = {}) {
  const world = servedWorld({
    ...options,
    client: { signingKey: key, ...options.client },
    serve: { dev: false, ...options.serve },
  });
  const { idem, platform } = world;
  const executed: string[] = [];
  for (const id of ["pay", "refund"]) {
    idem.createFunction({ id }, { event: "test/go" }, async ({ step, event }) => {
      executed.push(`${id}: code`);
      const done = await step.run("charge", () => executed.push(`${id}: step`));
      return event.data.echo ?? done;
    });
  }
  const ids = new UlidSource(
    () => platform.wallMs(),
    (count) => platform.randomBytes(count),
  );
  /** A call as an Idem server makes it, unless it is foreign. */
  const callOf = ({ fn = "pay", generation = 1, requestId = ids.next(), isForeign, ...given }: Sent = {}): Captured => {
    const stepId = given.stepId ?? "step";
    const own = {
      step_id: stepId,
      request_id: requestId,
      generation_id: generation,
      idem: { env: "default", fn: `shop-${fn}`, subject: "01RUN", generation: "01RUN" },
    };
    const body = canonicalJson(callBody({ ...given, ctx: { ...(isForeign === true ? {} : own), ...given.ctx } }));
    const headers = { [signatureHeader]: signRequest(body, key, platform.wallMs()) };
    return { url: `${origin}?fnId=shop-${fn}&stepId=${stepId}`, init: { method: "POST", headers, body } };
  };
  const deliver = ({ url, init }: Captured) => world.send(new Request(url, init));
  const to = ({ url, init }: Captured, query: Record<string, string>): Captured => {
    const other = new URL(url);
    for (const [name, value] of Object.entries(query)) other.searchParams.set(name, value);
    return { url: other.href, init };
  };
  return { ...world, executed, callOf, deliver, to };
}

const stale = { status: 409, body: { type: "internal", name: "CALL_STALE" } };

describe.each([
  ["an Idem server", false],
  ["a server that says nothing of what Idem adds", true],
])("a call of %s", (_, isForeign) => {
  test("is executed once, however often it is sent while its signature holds", async () => {
    const { callOf, deliver, executed, platform } = attacked();
    const call = callOf({ isForeign });
    expect((await deliver(call)).status).toBe(206);
    const before = [...executed];
    for (const ms of [0, 0, 1_000, 60_000, 238_000]) {
      await platform.advance(ms, async () => {});
      expect(await deliver(call)).toMatchObject(stale);
    }
    await platform.advance(2_000, async () => {});
    expect((await deliver(call)).status).toBe(401);
    expect(executed).toEqual(before);
  });

  test("is executed once when it arrives twice at the same time", async () => {
    const { callOf, deliver, executed } = attacked();
    const call = callOf({ isForeign });
    const answers = await Promise.all([deliver(call), deliver(call), deliver(call)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([206, 409, 409]);
    expect(executed).toEqual(["pay: code", "pay: step"]);
  });

  test("is not executed again under another spelling of its signature or its bytes", async () => {
    const { callOf, deliver, executed } = attacked();
    const call = callOf({ isForeign });
    await deliver(call);
    const before = [...executed];
    const { method, headers, body } = call.init;
    const signature = headers[signatureHeader]!;
    const [t, s] = signature.split("&") as [string, string];
    for (const [init, status] of [
      [{ method, body, headers: { [signatureHeader]: `${t}&s=${s.slice(2).toUpperCase()}` } }, 409],
      // No form of a signature at all.
      [{ method, body, headers: { [signatureHeader]: `${s}&${t}` } }, 401],
      [{ method, body: JSON.stringify(JSON.parse(body), null, 2), headers }, 409],
    ] as const) {
      expect((await deliver({ url: call.url, init })).status).toBe(status);
    }
    expect(executed).toEqual(before);
  });

  test("that follows it for the same run is executed", async () => {
    const { callOf, deliver, executed, platform } = attacked();
    expect((await deliver(callOf({ isForeign }))).status).toBe(206);
    await platform.advance(1_000, async () => {});
    expect((await deliver(callOf({ isForeign }))).status).toBe(206);
    expect(executed.filter((each) => each === "pay: code")).toHaveLength(2);
  });
});

describe("a call of an Idem server", () => {
  test("reaches the function and the step that its signed body names, and no other", async () => {
    const { callOf, deliver, to, executed } = attacked();
    const call = callOf();
    for (const query of [{ fnId: "shop-refund" }, { stepId: "86f7e437faa5a7fce15d1ddcb9eaeaea377667b8" }]) {
      const answer = await deliver(to(call, query));
      expect(answer).toMatchObject({ status: 400, body: { type: "internal", name: "CALL_MISDIRECTED" } });
    }
    expect(executed).toEqual([]);
    // A refusal spends nothing: the call itself still works.
    expect((await deliver(call)).status).toBe(206);
    expect((await deliver(to(call, { fnId: "shop-refund" }))).status).toBe(400);
    expect(executed).toEqual(["pay: code", "pay: step"]);
  });

  test("that was kept back is refused once a newer one was here, by fence or by request id", async () => {
    const { callOf, deliver, executed } = attacked();
    const [first, second] = [callOf(), callOf()];
    const [older, newer] = [
      callOf({ generation: 1 }),
      callOf({ generation: 2, requestId: "00000000000000000000000000" }),
    ];
    expect((await deliver(second)).status).toBe(206);
    expect(await deliver(first)).toMatchObject(stale);
    expect((await deliver(newer)).status).toBe(206);
    expect(await deliver(older)).toMatchObject(stale);
    expect(executed.filter((each) => each === "pay: code")).toHaveLength(2);
  });

  test("for one step is judged apart from those for other steps and from what comes next", async () => {
    const { callOf, deliver, idem } = attacked();
    idem.createFunction({ id: "both" }, { event: "test/go" }, ({ step }) =>
      Promise.all(["a", "b"].map((name) => step.run(name, () => name))),
    );
    const plan = callOf({ fn: "both" });
    const [a, b, next] = [
      "86f7e437faa5a7fce15d1ddcb9eaeaea377667b8",
      "e9d71f5ee7c92d6dc9e92ffdad17b8bd49418f98",
      "step",
    ].map((stepId) => callOf({ fn: "both", stepId, ctx: { disable_immediate_execution: true } }));
    // In the opposite order of their ids: side by side, any may come first.
    for (const call of [plan, next!, b!, a!]) expect((await deliver(call)).status).toBe(206);
    for (const call of [plan, next!, b!, a!]) expect(await deliver(call)).toMatchObject(stale);
  });

  test("takes its request id and its fence from what was signed, whatever the headers say", async () => {
    const { callOf, deliver, asked } = attacked();
    const call = callOf({ requestId: "01J00000000000000000000000", generation: 3 });
    const headers = { ...call.init.headers, "x-request-id": "a-proxy's", "x-inngest-generation-id": "9" };
    await deliver({ url: call.url, init: { ...call.init, headers } });
    const [checkpoint] = asked.filter(({ path }) => path.startsWith("/v1/checkpoint/"));
    expect(checkpoint!.body).toMatchObject({ request_id: "01J00000000000000000000000", generation_id: 3 });
  });

  test("that is refused as repeated or misdirected fails no run: the server makes a new one", async () => {
    const { callOf, deliver, to } = attacked();
    const call = callOf();
    await deliver(call);
    const replies = [await deliver(call), await deliver(to(call, { fnId: "shop-refund" }))];
    const read = replies.map(({ status, headers, text }) =>
      readCallReply({ status, headers: Object.fromEntries(headers), body: text }),
    );
    expect(read).toEqual([{ kind: "stale" }, { kind: "not-the-app", why: expect.stringContaining("shop-refund") }]);
    // Another server takes it for an attempt that may be made again.
    for (const { headers } of replies) expect(headers.get("x-inngest-no-retry")).not.toBe("true");
  });

  test("that was refused is logged with its run, and a thousand of them with one line", async () => {
    const { callOf, deliver, logged } = attacked();
    const call = callOf();
    await deliver(call);
    logged.splice(0);
    for (let i = 0; i < 1_000; i++) await deliver(call);
    expect(logged).toHaveLength(1);
    expect(String(logged[0])).toContain("01RUN");
  });
});

describe("what an app signed itself", () => {
  test("is no call and no sync: a value that a function returned executes nothing and registers nothing", async () => {
    const { callOf, deliver, executed, asked, send } = attacked();
    const forged = JSON.parse(callOf({ fn: "refund" }).init.body) as object;
    const echo = { ...forged, url: "https://attacker.example/api" };
    const call = callOf({ event: { data: { echo } }, steps: { charge: { data: 1 } }, ctx: { ...classic } });
    const answer = await deliver(call);
    expect([answer.status, answer.body]).toEqual([200, echo]);
    executed.splice(0);
    const headers = { [signatureHeader]: answer.headers.get(signatureHeader)! };
    const reflected = await deliver({
      url: `${origin}?fnId=shop-refund&stepId=step`,
      init: { method: "POST", headers, body: answer.text },
    });
    expect(reflected.status).toBe(409);
    expect((await send(new Request(origin, { method: "PUT", headers, body: answer.text }))).status).toBe(409);
    expect(executed).toEqual([]);
    expect(asked.filter(({ path }) => path.startsWith("/fn/register"))).toEqual([]);
  });
});

test("a captured signature does not move an app: a sync names the app's address in what was signed", async () => {
  const { callOf, send, platform, asked } = attacked();
  const call = callOf();
  const elsewhere = "http://attacker.example/api/idem";
  for (const [body, signed] of [
    [call.init.body, call.init.headers],
    // As a GET of the server is signed.
    ["", { [signatureHeader]: signRequest("", key, platform.wallMs()) }],
  ] as const) {
    const answer = await send(
      new Request(elsewhere, { method: "PUT", headers: signed, ...(body === "" ? {} : { body }) }),
    );
    expect(answer.status).toBe(400);
  }
  expect(asked).toEqual([]);
});

describe("the memory of calls", () => {
  const nowMs = 1_700_000_000_000;
  const second = nowMs / 1_000;
  const digits = (n: number) => n.toString(16).padStart(64, "0");
  const numbered = (n: number, more: Partial<CallNumber> = {}): CallNumber => ({
    runId: `run-${n}`,
    target: null,
    generation: 1,
    requestId: "01J00000000000000000000000",
    ...more,
  });
  const sizeOf = (seen: SeenCalls) => (seen as unknown as { count: number }).count;

  test("is empty again once every signature in it has expired, also of those that were ahead of this clock", () => {
    const seen = new SeenCalls();
    for (let n = 0; n < 1_000; n++) {
      const signature = { s: digits(n), t: second - 300 + (n % 601) };
      expect(seen.admit(n % 2 === 0 ? null : numbered(n), signature, nowMs)).toBeNull();
    }
    expect(sizeOf(seen)).toBe(1_000);
    expect(seen.admit(numbered(999), { s: digits(999), t: second + 98 }, nowMs + 398_000)).toContain("here before");
    seen.noteOwn({ s: digits(5_000), t: second }, nowMs + 601_000);
    expect(sizeOf(seen)).toBe(1);
  });

  test("keeps a run as long as its latest call could be sent again", () => {
    const seen = new SeenCalls();
    const [first, second1] = [numbered(1), numbered(1, { requestId: "01J00000000000000000000001" })];
    seen.admit(first, { s: digits(1), t: second }, nowMs);
    seen.admit(second1, { s: digits(2), t: second + 200 }, nowMs + 200_000);
    expect(seen.admit(second1, { s: digits(2), t: second + 200 }, nowMs + 500_000)).toContain("here before");
    expect(sizeOf(seen)).toBe(1);
  });

  test("counts every step of a run, forgets the oldest signatures beyond its bound, and admits none of them again", () => {
    const seen = new SeenCalls(100);
    for (let n = 0; n < 150; n++) {
      const call = n % 3 === 0 ? null : numbered(n % 3, { target: `step-${n}` });
      expect(seen.admit(call, { s: digits(n), t: second + n }, nowMs + n * 1_000)).toBeNull();
      expect(sizeOf(seen)).toBeLessThanOrEqual(100);
    }
    for (let n = 0; n < 150; n += 3) {
      expect(seen.admit(null, { s: digits(n), t: second + n }, nowMs + 150_000)).not.toBeNull();
    }
    // A new call is executed all the same.
    expect(seen.admit(null, { s: digits(200), t: second + 150 }, nowMs + 150_000)).toBeNull();
  });
});
