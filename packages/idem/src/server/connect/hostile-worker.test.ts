import fc from "fast-check";
import { expect, test } from "vitest";
import {
  extendLease,
  frameKind,
  requestAck,
  sdkResponse,
  workerConnect,
  workerStatus,
} from "../../protocol/connect-messages.ts";
import { fakeGateway } from "./fake-worker.suite.ts";

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
