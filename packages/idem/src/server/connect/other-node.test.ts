// Where several nodes share a store a worker's reply may come to one that did not call it.
import { expect, test } from "vitest";
import { frameKind, sdkResponse } from "../../protocol/connect-messages.ts";
import { FakeWorker, fakeGateway } from "./fake-worker.suite.ts";

const flushed = (requestId: string) => sdkResponse.decode(FakeWorker.response(requestId));

test("a reply that another node waits for is neither acknowledged nor taken by flush, so the worker keeps it", async () => {
  let isElsewhere = true;
  const { gateway, worker, settle } = fakeGateway({}, { isElsewhere: async () => isElsewhere });
  const connected = await worker();
  connected.reply("of another node");
  await settle();
  expect(connected.kinds).not.toContain(frameKind.workerReplyAck);
  await expect(gateway.flush("default", flushed("of another node"))).rejects.toMatchObject({ code: "OTHER_NODE" });
  // That node is gone, or has its answer: nobody waits any more.
  isElsewhere = false;
  connected.reply("of another node");
  await settle();
  expect(connected.kinds).toContain(frameKind.workerReplyAck);
  await gateway.flush("default", flushed("of another node"));
});

test("a reply to a call made here is taken at once, whoever holds the run by now", async () => {
  const { call, gateway, worker, settle } = fakeGateway({}, { isElsewhere: async () => true });
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
