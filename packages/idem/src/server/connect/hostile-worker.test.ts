import fc from "fast-check";
import { expect, onTestFinished, test, vi } from "vitest";
import {
  extendLease,
  frameKind,
  requestAck,
  sdkResponse,
  workerConnect,
  workerStatus,
} from "../../protocol/connect-messages.ts";
import { held } from "../../testing/one-run.suite.ts";
import { fakeGateway } from "./fake-worker.suite.ts";
import { WorkerPool } from "./worker-pool.ts";

const id = fc.constantFrom("call-1", "call-2", "call-3", "", "x".repeat(1_000), "__proto__");
const payload = fc.oneof(
  fc.uint8Array({ maxLength: 64 }),
  fc.record({ requestId: id }).map((value) => requestAck.encode(value)),
  fc.record({ requestId: id, leaseId: id }).map((value) => extendLease.encode(value)),
  fc.record({ requestId: id, status: fc.nat(5), body: fc.uint8Array() }).map((value) => sdkResponse.encode(value)),
  fc.record({ inFlightRequestIds: fc.array(id), shutdownRequested: fc.boolean() }).map((v) => workerStatus.encode(v)),
  fc.record({ connectionId: id, instanceId: id }).map((value) => workerConnect.encode(value)),
);
const frames = fc.array(fc.record({ kind: fc.integer({ min: -1, max: 17 }), payload }), { maxLength: 30 });

test("whatever a worker says, calls of others end as they should and the gateway stays whole", async () => {
  await fc.assert(
    fc.asyncProperty(frames, fc.boolean(), async (said, hangsUp) => {
      const { gateway, worker: connect, call, settle } = fakeGateway();
      const [honest, hostile] = [await connect(), await connect({ env: "other", apps: { shop: ["pay"] } })];
      const made = [call(), call(), call({ env: "other" })];
      honest.ack(made[0]!.requestId);
      for (const { kind, payload } of said) if (hostile.closed === null) hostile.say(kind, payload);
      if (hangsUp) hostile.hangUp();
      await settle();
      for (const { requestId } of honest.calls) honest.reply(requestId, '"honest"');
      await settle();
      expect(made.slice(0, 2).map(({ reply }) => reply?.body)).toEqual(['"honest"', '"honest"']);
      expect(honest.closed).toBeNull();
      expect(gateway.workerCount("default", "shop")).toBe(1);
      expect(gateway.workerCount("other", "shop")).toBe(hostile.closed === null ? 1 : 0);
      const later = call();
      honest.reply(later.requestId);
      await settle();
      expect(later.reply?.status).toBe(200);
    }),
    { numRuns: 200 },
  );
});

test("a stranger's bytes before the greeting end in a closed socket, never in an error of ours", async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (bytes) => {
      const { open, settle, registered } = fakeGateway();
      const worker = open();
      worker.sayBytes(bytes);
      worker.say(frameKind.workerConnect, bytes);
      await settle();
      expect(registered).toEqual([]);
      expect(worker.kinds).toEqual([frameKind.gatewayHello]);
    }),
    { numRuns: 200 },
  );
});

test("a reply to no call makes nobody look through the calls that wait", async () => {
  const { worker: connect, call, settle } = fakeGateway();
  const worker = await connect({ maxWorkerConcurrency: 1 });
  for (let n = 0; n < 10; n++) call();
  await settle();
  const pick = vi.spyOn(WorkerPool.prototype, "pick");
  onTestFinished(() => pick.mockRestore());
  for (let n = 0; n < 1_000; n++) {
    worker.reply(`nobody-${n}`);
    worker.say(frameKind.workerReady);
  }
  await settle();
  expect(pick).not.toHaveBeenCalled();
  worker.reply(worker.calls[0]!.requestId);
  await settle();
  expect(worker.calls).toHaveLength(2);
});

test("a worker that said it stops is not ready again, however often it says so", async () => {
  const { worker: connect, call, settle } = fakeGateway();
  const worker = await connect();
  worker.say(frameKind.workerPause);
  for (let n = 0; n < 100; n++) {
    worker.say(frameKind.workerReady);
    worker.say(frameKind.workerPause);
  }
  worker.say(frameKind.workerReady);
  call();
  await settle();
  expect(worker.calls).toEqual([]);
});

test("of what a worker says about runs of other nodes so much waits for the store and no more; the rest it says again", async () => {
  const asked: string[] = [];
  const answered = held();
  const sent: string[] = [];
  const elsewhere = {
    has: async (_env: string, runId: string) => {
      asked.push(runId);
      await answered.promise;
      return true;
    },
    letters: {
      send: async (_env: string, runId: string) => void sent.push(runId),
      open: () => () => {},
    },
  };
  const { worker: connect, settle } = fakeGateway({ elsewhereMax: 5, elsewhereBytesMax: 10_000 }, { elsewhere });
  const [worker, other] = [await connect(), await connect()];
  for (let n = 0; n < 1_000; n++) {
    const reply = { requestId: `r-${n}`, runId: `run-${n}` };
    worker.say(frameKind.workerReply, sdkResponse.encode(reply));
    worker.say(
      frameKind.workerRequestExtendLease,
      extendLease.encode({ requestId: `e-${n}`, leaseId: "l", runId: "run" }),
    );
  }
  const large = { requestId: "large", runId: "large", body: new Uint8Array(20_000) };
  other.say(frameKind.workerReply, sdkResponse.encode(large));
  other.say(frameKind.workerReply, sdkResponse.encode({ ...large, requestId: "larger" }));
  await settle();
  expect(asked).toHaveLength(6);
  const acknowledged = () => worker.kinds.filter((kind) => kind === frameKind.workerReplyAck).length;
  expect(acknowledged()).toBe(0);
  answered.release();
  await settle();
  expect([sent.length, acknowledged()]).toEqual([6, 3]);
  worker.say(frameKind.workerReply, sdkResponse.encode({ requestId: "r-900", runId: "run-900" }));
  await settle();
  expect(acknowledged()).toBe(4);
});
