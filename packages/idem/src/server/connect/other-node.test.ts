// Where several nodes share a store a worker may go from one to another while it works on a call.
import { expect, test } from "vitest";
import { frameKind, sdkResponse } from "../../protocol/connect-messages.ts";
import type { Letter } from "../channels/letters.ts";
import type { Elsewhere } from "./connect-remote.ts";
import { FakeWorker, fakeGateway } from "./fake-worker.suite.ts";

/** Letters that are read at once in every open box. */
function post(has = true) {
  const sent: Letter[] = [];
  const open = new Set<(letter: Letter) => void>();
  const state = { has, isAway: false };
  const elsewhere: Elsewhere = {
    has: async () => state.has,
    letters: {
      send: async (_env, _runId, letter) => {
        if (state.isAway) throw new Error("the store does not answer");
        sent.push(letter);
        for (const hear of open) hear(letter);
      },
      open: (_env, _runId, _options, hear) => {
        open.add(hear);
        return () => void open.delete(hear);
      },
    },
  };
  return { elsewhere, sent, state, open };
}

const flushed = (requestId: string) => sdkResponse.decode(FakeWorker.response(requestId));

/** A node that called a worker, and the one the worker went to. */
async function moved() {
  const { elsewhere, sent, state, open } = post();
  const [one, other] = [fakeGateway({}, { elsewhere }), fakeGateway({}, { elsewhere })];
  const before = await one.worker();
  const call = one.call();
  await one.settle();
  before.ack(call.requestId);
  const { leaseId } = before.calls[0]!;
  const after = await other.worker();
  before.hangUp();
  return { one, other, after, call, leaseId, sent, state, open };
}

test("a worker that goes to another node keeps its call as long as it says so there, and its reply comes back", async () => {
  const { one, other, after, call, leaseId, sent, open } = await moved();
  let lease = leaseId;
  // Longer than anybody waits for a worker whose line was lost, and than any lease lasts.
  for (let i = 0; i < 40; i++) {
    await one.advance(2_000);
    after.say(frameKind.workerRequestExtendLease, FakeWorker.extension(call.requestId, lease));
    await other.settle();
    lease = FakeWorker.newLease(after)!;
  }
  expect([call.reply, call.error]).toEqual([null, null]);
  after.reply(call.requestId, '"done"');
  await other.settle();
  expect(after.kinds.at(-1)).toBe(frameKind.workerReplyAck);
  await one.settle();
  expect(call.reply).toMatchObject({ status: 200, body: '"done"' });
  expect([sent.at(-1)!.kind, open.size]).toEqual(["reply", 0]);
});

test("one that says nothing any more has lost it", async () => {
  const { one, other, after, call, leaseId } = await moved();
  after.say(frameKind.workerRequestExtendLease, FakeWorker.extension(call.requestId, leaseId));
  await other.settle();
  await one.advance(14_000);
  expect(call.error).toBeNull();
  await one.advance(2_000);
  expect(call.error?.message).toContain("went away before it answered");
});

test("a lease that is not the call's keeps nothing", async () => {
  const { one, other, after, call } = await moved();
  after.say(frameKind.workerRequestExtendLease, FakeWorker.extension(call.requestId, "another"));
  await other.settle();
  await one.advance(9_000);
  expect(call.error?.message).toContain("went away before it answered");
});

test("a reply that another node waits for is acknowledged once it is stored, over a socket and through flush", async () => {
  const { elsewhere, sent, state } = post();
  const { gateway, worker, settle } = fakeGateway({}, { elsewhere });
  const connected = await worker();
  state.isAway = true;
  connected.reply("of another node");
  await settle();
  expect(connected.kinds).not.toContain(frameKind.workerReplyAck);
  await expect(gateway.flush("default", flushed("of another node"))).rejects.toThrow("does not answer");
  state.isAway = false;
  connected.reply("of another node");
  await settle();
  expect(connected.kinds).toContain(frameKind.workerReplyAck);
  await gateway.flush("default", flushed("another"));
  expect(sent.map((letter) => letter.kind === "reply" && letter.requestId)).toEqual(["of another node", "another"]);
});

test("a reply that nobody waits for is acknowledged and kept nowhere; a lease of it is lost", async () => {
  const { elsewhere, sent } = post(false);
  const { gateway, worker, settle } = fakeGateway({}, { elsewhere });
  const connected = await worker();
  connected.reply("nobody's");
  await settle();
  expect(connected.kinds).toContain(frameKind.workerReplyAck);
  await gateway.flush("default", flushed("nobody's"));
  connected.say(frameKind.workerRequestExtendLease, FakeWorker.extension("nobody's", "any"));
  await settle();
  expect([FakeWorker.newLease(connected), sent]).toEqual([null, []]);
});

test("a reply to a call made here is taken at once, whoever holds the run by now", async () => {
  const { call, gateway, worker, settle } = fakeGateway({}, { elsewhere: post().elsewhere });
  const connected = await worker();
  const [one, other] = [call(), call()];
  await settle();
  for (const { requestId } of [one, other]) connected.ack(requestId);
  connected.reply(one.requestId);
  expect(connected.kinds.at(-1)).toBe(frameKind.workerReplyAck);
  await gateway.flush("default", flushed(other.requestId));
  await settle();
  expect([one.reply?.status, other.reply?.status]).toEqual([200, 200]);
});

test("it is told when a worker has come and when one has gone", async () => {
  const told: string[] = [];
  const { gateway, worker } = fakeGateway(
    {},
    { onWorkers: (env) => told.push(`${env}: ${gateway.workerCount(env, "shop")}`) },
  );
  const connected = await worker();
  connected.hangUp();
  expect(told).toEqual(["default: 1", "default: 0"]);
});
