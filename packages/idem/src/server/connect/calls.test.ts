import { describe, expect, test } from "vitest";
import { AppUnreachableError } from "../../execute/remote.ts";
import { frameKind, replyAck, sdkResponse } from "../../protocol/connect-messages.ts";
import { FakeWorker, fakeGateway } from "./fake-worker.suite.ts";

const { gatewayClosing, workerPause, workerReplyAck } = frameKind;

describe("a call", () => {
  test("reaches a worker of its app as it was made, and brings back its reply", async () => {
    const { worker: connect, call, settle } = fakeGateway();
    const worker = await connect();
    const made = call({ runId: "run-7", stepId: "abc", body: '{"é":1}', jobId: "job-7" });
    expect(worker.calls[0]).toMatchObject({
      requestId: made.requestId,
      appName: "shop",
      functionSlug: "shop-pay",
      stepId: "abc",
      runId: "run-7",
      jobId: "job-7",
    });
    expect(Buffer.from(worker.calls[0]!.requestPayload).toString()).toBe('{"é":1}');
    expect(JSON.parse(Buffer.from(worker.calls[0]!.userTraceCtx).toString())).toEqual({
      traceparent: expect.stringMatching(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/),
      tracestate: "",
    });
    worker.ack(made.requestId);
    worker.reply(made.requestId, '{"paid":true}');
    await settle();
    expect(made.reply).toMatchObject({ status: 200, body: '{"paid":true}' });
    expect(replyAck.decode(worker.received.at(-1)!.payload)).toEqual({ requestId: made.requestId });
  });

  test("without a worker waits 5 s for one, and then says whose is missing", async () => {
    const { worker: connect, call, advance, settle } = fakeGateway();
    const early = call();
    await advance(4_999);
    const worker = await connect();
    expect(worker.calls).toHaveLength(1);
    worker.reply(early.requestId);
    await settle();
    expect(early.reply?.status).toBe(200);
    worker.hangUp();
    const late = call();
    await advance(4_999);
    expect(late.error).toBeNull();
    await advance(1);
    expect(late.error).toBeInstanceOf(AppUnreachableError);
    expect(late.error?.message).toContain('No worker of app "shop" is connected');
  });

  test("never reaches a worker of another environment or app", async () => {
    const { worker: connect, call, advance } = fakeGateway();
    const others = [await connect({ env: "staging" }), await connect({ apps: { blog: ["pay"] } })];
    const made = call();
    await advance(5_000);
    expect(others.flatMap(({ calls }) => calls)).toEqual([]);
    expect(made.error).toBeInstanceOf(AppUnreachableError);
  });

  test("goes to a worker that has the function while versions differ", async () => {
    const { worker: connect, call, advance } = fakeGateway();
    const [old, next] = [await connect(), await connect({ apps: { shop: ["pay", "refund"] } })];
    call({ fn: "shop-refund" });
    call({ fn: "shop-refund" });
    expect([old.calls.length, next.calls.length]).toEqual([0, 2]);
    const unknown = call({ fn: "shop-gone" });
    await advance(5_000);
    expect(unknown.error?.message).toContain('has function "shop-gone"');
  });

  test("is given up when nobody waits: the lease is not extended, the place is free after the reply", async () => {
    const { worker: connect, call, settle } = fakeGateway();
    const worker = await connect({ maxWorkerConcurrency: 1 });
    const abort = new AbortController();
    const made = call({ signal: abort.signal });
    worker.ack(made.requestId);
    abort.abort();
    await settle();
    expect(made.error).toBeInstanceOf(AppUnreachableError);
    expect(worker.extend(made.requestId, worker.calls[0]!.leaseId)).toBeNull();
    const next = call();
    expect(worker.calls).toHaveLength(1);
    worker.reply(made.requestId);
    expect(worker.calls.map(({ requestId }) => requestId)).toEqual([made.requestId, next.requestId]);
  });

  test("that nobody waits for when it is made is not sent", async () => {
    const { worker: connect, call, settle } = fakeGateway();
    const worker = await connect();
    const made = call({ signal: AbortSignal.abort() });
    await settle();
    expect([made.error?.name, worker.calls.length]).toEqual(["AppUnreachableError", 0]);
  });
});

describe("the choice of a worker", () => {
  test("the least busy one comes first, and of equals the longest idle", async () => {
    const { worker: connect, call } = fakeGateway();
    const workers = [await connect(), await connect(), await connect()];
    for (let i = 0; i < 6; i++) call();
    expect(workers.map(({ calls }) => calls.length)).toEqual([2, 2, 2]);
    workers[1]!.reply(workers[1]!.calls[0]!.requestId);
    call();
    expect(workers.map(({ calls }) => calls.length)).toEqual([2, 3, 2]);
  });

  test("a worker has never more calls than it takes at once, and waiting ones come in their order", async () => {
    const { worker: connect, call, settle } = fakeGateway();
    const worker = await connect({ maxWorkerConcurrency: 2 });
    const made = Array.from({ length: 5 }, () => call());
    let busiest = 0;
    for (let i = 0; i < 5; i++) {
      busiest = Math.max(busiest, worker.calls.length - i);
      worker.reply(worker.calls[i]!.requestId);
    }
    await settle();
    expect(busiest).toBe(2);
    expect(worker.calls.map(({ requestId }) => requestId)).toEqual(made.map(({ requestId }) => requestId));
    expect(made.every(({ reply }) => reply !== null)).toBe(true);
  });

  test("a call that finds all workers busy waits longer than one that finds none, and not for ever", async () => {
    const { worker: connect, call, advance } = fakeGateway({ heartbeatsMissedMax: 100 });
    const worker = await connect({ maxWorkerConcurrency: 1 });
    const first = call();
    worker.ack(first.requestId);
    const second = call();
    await advance(29_000);
    expect(second.error).toBeNull();
    await advance(1_000);
    expect(second.error?.message).toContain("busy");
    expect(first.error).toBeNull();
  });

  test("calls wait up to a bound", async () => {
    const { call, settle } = fakeGateway({ callsWaitingMax: 2 });
    const made = [call(), call(), call()];
    await settle();
    expect(made.map(({ error }) => error !== null)).toEqual([false, false, true]);
  });

  test("a worker that does not read its socket gets no further call", async () => {
    const { worker: connect, call } = fakeGateway();
    const [full, other] = [await connect(), await connect()];
    full.unsentBytes = 20 * 1024 * 1024;
    call();
    call();
    expect([full.calls.length, other.calls.length]).toEqual([0, 2]);
  });
});

describe("a worker that does not acknowledge", () => {
  test("loses the call to another after 5 s", async () => {
    const { worker: connect, call, advance } = fakeGateway();
    const mute = await connect();
    const made = call();
    const other = await connect();
    await advance(5_000);
    expect(mute.calls.map(({ requestId }) => requestId)).toEqual([made.requestId]);
    expect(other.calls.map(({ requestId }) => requestId)).toEqual([made.requestId]);
    // Its lease went with the call.
    expect(mute.extend(made.requestId, mute.calls[0]!.leaseId)).toBeNull();
    expect(other.extend(made.requestId, other.calls[0]!.leaseId)).not.toBeNull();
  });

  test("keeps the call while there is nobody else, and loses it as soon as there is", async () => {
    const { worker: connect, call, advance } = fakeGateway();
    const slow = await connect();
    const made = call();
    await advance(20_000);
    expect(made.error).toBeNull();
    slow.ack(made.requestId);
    const late = await connect();
    expect(late.calls).toEqual([]);

    const second = call();
    expect(late.calls.map(({ requestId }) => requestId)).toEqual([second.requestId]);
    await advance(6_000);
    expect(slow.calls.at(-1)?.requestId).toBe(second.requestId);
  });

  test("is the last choice until it is heard again", async () => {
    const { worker: connect, call, advance } = fakeGateway();
    const mute = await connect();
    const first = call();
    await advance(5_000);
    const busy = await connect();
    busy.ack(first.requestId);
    for (let i = 0; i < 3; i++) call();
    expect([mute.calls.length, busy.calls.length]).toEqual([1, 4]);
    mute.say(frameKind.workerHeartbeat);
    call();
    expect(mute.calls.length).toBe(2);
  });

  test("fails the call when its time is over", async () => {
    const { worker: connect, call, advance } = fakeGateway({ heartbeatsMissedMax: 100 });
    await connect();
    const made = call();
    await advance(60_000);
    expect(made.error?.message).toContain("did not acknowledge");
  });
});

describe("a lease", () => {
  test("is extended with a new id each time, also when the news of the last one was lost", async () => {
    const { worker: connect, call, advance } = fakeGateway();
    const worker = await connect();
    const { requestId } = call();
    worker.ack(requestId);
    const first = worker.calls[0]!.leaseId;
    const second = worker.extend(requestId, first)!;
    // The worker never heard of `second`.
    const third = worker.extend(requestId, first)!;
    const fourth = worker.extend(requestId, third)!;
    expect(new Set([first, second, third, fourth, null]).size).toBe(5);
    expect(worker.extend(requestId, first)).toBeNull();
    expect(worker.extend("unknown", fourth)).toBeNull();
    await advance(1_000);
  });

  test("that ends without being extended fails the call, so that it is tried again", async () => {
    const { worker: connect, call, advance } = fakeGateway({ heartbeatsMissedMax: 100 });
    const worker = await connect();
    const made = call();
    worker.ack(made.requestId);
    await advance(50_000);
    worker.extend(made.requestId, worker.calls[0]!.leaseId);
    await advance(59_999);
    expect(made.error).toBeNull();
    await advance(1);
    expect(made.error).toBeInstanceOf(AppUnreachableError);
    expect(made.error?.message).toContain("went away before it answered");
  });

  test("goes on over a reconnect, whoever the socket belongs to", async () => {
    const { worker: connect, call, advance, settle } = fakeGateway();
    const before = await connect();
    const made = call();
    before.ack(made.requestId);
    before.hangUp();
    await advance(4_000);
    const after = await connect();
    expect(after.extend(made.requestId, before.calls[0]!.leaseId)).not.toBeNull();
    await advance(30_000);
    after.reply(made.requestId);
    await settle();
    expect(made.reply?.status).toBe(200);
    expect(after.calls).toEqual([]);
  });

  test("of a worker that was lost and does not come back ends after 5 s", async () => {
    const { worker: connect, call, advance } = fakeGateway();
    const [dying, other] = [await connect(), await connect()];
    const made = call();
    dying.ack(made.requestId);
    dying.hangUp();
    await advance(4_999);
    expect(made.error).toBeNull();
    await advance(1);
    expect(made.error).toBeInstanceOf(AppUnreachableError);
    // The run asks again; the gateway does not guess.
    expect(other.calls).toEqual([]);
  });

  test("a call that was not acknowledged when its worker was lost goes to another at once", async () => {
    const { worker: connect, call } = fakeGateway();
    const [dying, other] = [await connect(), await connect()];
    const made = call();
    dying.hangUp();
    expect(other.calls.map(({ requestId }) => requestId)).toEqual([made.requestId]);
  });

  test("of a call that the worker twice did not name in its status ends", async () => {
    const { worker: connect, call, settle } = fakeGateway();
    const worker = await connect();
    const [kept, dropped] = [call(), call()];
    for (const { requestId } of worker.calls) worker.ack(requestId);
    worker.status([kept.requestId]);
    await settle();
    expect(dropped.error).toBeNull();
    worker.status([kept.requestId]);
    await settle();
    expect(dropped.error?.message).toContain("dropped the call");
    expect(kept.error).toBeNull();
  });
});

describe("a reply", () => {
  test("that comes by flush after the connection was lost is taken", async () => {
    const { gateway, worker: connect, call, settle } = fakeGateway();
    const worker = await connect();
    const made = call();
    worker.ack(made.requestId);
    worker.hangUp();
    gateway.flush("default", sdkResponse.decode(FakeWorker.response(made.requestId, '"late"')));
    await settle();
    expect(made.reply?.body).toBe('"late"');
  });

  test("to a call nobody waits for is acknowledged and dropped", async () => {
    const { gateway, worker: connect, settle } = fakeGateway();
    const worker = await connect();
    worker.reply("long-gone");
    gateway.flush("default", sdkResponse.decode(FakeWorker.response("long-gone")));
    await settle();
    expect(worker.kinds.at(-1)).toBe(workerReplyAck);
    expect(worker.closed).toBeNull();
  });

  test("that comes twice settles the call once", async () => {
    const { worker: connect, call, settle } = fakeGateway();
    const worker = await connect();
    const made = call();
    worker.reply(made.requestId, "1");
    worker.reply(made.requestId, "2");
    await settle();
    expect(made.reply?.body).toBe("1");
    expect(worker.kinds.filter((kind) => kind === workerReplyAck)).toHaveLength(2);
  });

  test("from a worker of another environment or app is not believed", async () => {
    const { gateway, worker: connect, call, settle } = fakeGateway();
    const worker = await connect();
    const strangers = [await connect({ env: "staging" }), await connect({ apps: { blog: ["pay"] } })];
    const made = call();
    for (const stranger of strangers) {
      stranger.ack(made.requestId);
      stranger.reply(made.requestId, '"forged"');
      expect(stranger.extend(made.requestId, worker.calls[0]!.leaseId)).toBeNull();
    }
    gateway.flush("staging", sdkResponse.decode(FakeWorker.response(made.requestId, '"forged"')));
    await settle();
    expect(made.reply).toBeNull();
    worker.reply(made.requestId, '"true"');
    await settle();
    expect(made.reply?.body).toBe('"true"');
  });
});

describe("a worker that leaves", () => {
  test("gets no new calls, finishes what it has, and passes on what it has not begun", async () => {
    const { gateway, worker: connect, call, settle } = fakeGateway();
    const leaving = await connect();
    const [begun, untouched] = [call(), call()];
    leaving.ack(begun.requestId);
    const other = await connect();
    leaving.say(workerPause);
    expect(other.calls.map(({ requestId }) => requestId)).toEqual([untouched.requestId]);
    call();
    expect(leaving.calls).toHaveLength(2);
    leaving.reply(begun.requestId);
    await settle();
    expect(begun.reply?.status).toBe(200);
    leaving.hangUp(1000, "WORKER_SHUTDOWN");
    expect(gateway.workerCount("default", "shop")).toBe(1);
  });

  test("may say so in its status as well", async () => {
    const { worker: connect, call } = fakeGateway();
    const [leaving, other] = [await connect(), await connect()];
    leaving.status([], true);
    call();
    call();
    expect([leaving.calls.length, other.calls.length]).toEqual([0, 2]);
  });
});

describe("a gateway that stops", () => {
  test("lets calls end, then sends its workers away; nobody new is taken in", async () => {
    const { gateway, world, worker: connect, call, settle } = fakeGateway();
    const worker = await connect();
    const made = call();
    worker.ack(made.requestId);
    const stopped = gateway.stop(10_000);
    await settle();
    const refused = call();
    await settle();
    expect(refused.error?.message).toContain("stopping");
    expect(worker.closed).toBeNull();
    // These words make the SDK try again soon instead of backing off.
    expect(() => gateway.start("default", "ws://x/connect", world)).toThrow("connect_gateway_closing");
    worker.reply(made.requestId);
    await stopped;
    expect(made.reply?.status).toBe(200);
    expect(worker.kinds.at(-1)).toBe(gatewayClosing);
    expect(worker.closed).toEqual({ code: 1001, reason: "connect_gateway_closing" });
  });

  test("waits no longer than its grace", async () => {
    const { gateway, worker: connect, call, advance, platform } = fakeGateway();
    const worker = await connect();
    const [made, waiting] = [call(), call({ app: "blog" })];
    worker.ack(made.requestId);
    const stopped = gateway.stop(3_000);
    await advance(3_000);
    await stopped;
    expect([made.error?.name, waiting.error?.name]).toEqual(["AppUnreachableError", "AppUnreachableError"]);
    expect(platform.untilNext()).toBeNull();
  });

  test("ends calls at once when their sockets are cut", async () => {
    const { gateway, worker: connect, call, settle } = fakeGateway();
    const worker = await connect();
    const [begun, sent] = [call(), call()];
    worker.ack(begun.requestId);
    const stopped = gateway.stop(60_000);
    worker.hangUp();
    await stopped;
    await settle();
    expect([begun.error?.name, sent.error?.name]).toEqual(["AppUnreachableError", "AppUnreachableError"]);
  });
});
