import { getEventListeners, once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import type { RemoteCall } from "../execute/remote.ts";
import { openHttpCalls } from "../platform/node-http.ts";
import { readCallReply } from "../protocol/call-reply.ts";
import { traceparentOf } from "../protocol/traceparent.ts";
import { callApp } from "./call-app.ts";
import { type Credentials, openCredentials } from "./credentials.ts";

const platform = { wallMs: () => 0 };
const credentials = openCredentials({ mode: "dev", eventKeys: [], signingKeys: [] });

const call: RemoteCall = {
  fn: "shop-bill",
  runId: "01K",
  stepId: "step",
  planOnly: false,
  body: "{}",
  requestId: "r",
  generation: 1,
  jobId: "j",
  traceparent: traceparentOf({ runId: "01K", requestId: "r" }),
  signal: new AbortController().signal,
};

/** An app of its own, over one line. */
async function appThat(answers: RequestListener) {
  const app = createServer(answers);
  await new Promise<void>((resolve) => app.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void app.close());
  const http = openHttpCalls({ socketsPerHost: 1, connectMsMax: 10_000, callMsMax: 60_000 });
  onTestFinished(() => http.close());
  const url = `http://127.0.0.1:${(app.address() as AddressInfo).port}/api/idem`;
  return (given: { mode: "dev" | "start"; credentials: Credentials } = { mode: "dev", credentials }) =>
    callApp("default", url, { http, platform, checkUrl: () => {}, ...given });
}

test("a call says which span of which trace it is", async () => {
  const seen: string[] = [];
  const remote = (
    await appThat(({ headers }, response) => {
      seen.push(String(headers.traceparent));
      response.end("{}");
    })
  )();
  await remote.call(call);
  expect(seen).toEqual([call.traceparent]);
});

test("a call that nobody waits for any more is given up, and one that was answered is not listened for", async () => {
  const nobody = new AbortController();
  const asked: string[] = [];
  const remote = (
    await appThat((request, response) => {
      asked.push(request.url!);
      if (asked.length === 2) nobody.abort();
      else response.end("{}");
    })
  )();
  await remote.call({ ...call, signal: nobody.signal });
  expect(getEventListeners(nobody.signal, "abort")).toEqual([]);
  await expect(remote.call({ ...call, signal: nobody.signal })).rejects.toThrow(/could not be reached: .*aborted/);
  await expect(remote.call({ ...call, signal: nobody.signal })).rejects.toThrow(/could not be reached: .*aborted/);
  expect(asked).toHaveLength(2);
});

test("what an app's middleware throws around the SDK is read as that, signed or not, streamed or not", async () => {
  const error = { name: "TypeError", message: "no tenant", stack: "TypeError: no tenant\n    at app.js:1" };
  const body = JSON.stringify({ type: "internal", ...error });
  const plain: RequestListener = (_, response) => void response.writeHead(500).end(body);
  const streamed: RequestListener = (_, response) =>
    void response.writeHead(201, { "x-inngest-sdk": "js" }).end(JSON.stringify({ status: 500, headers: {}, body }));
  const signingKeys = [`signkey-prod-${"ab".repeat(16)}`];
  const signed = openCredentials({ mode: "start", eventKeys: ["k"], signingKeys });
  for (const listener of [plain, streamed]) {
    const remote = await appThat(listener);
    for (const given of [{ mode: "dev", credentials } as const, { mode: "start", credentials: signed } as const]) {
      const answer = await remote(given).call(call);
      expect(readCallReply(answer)).toEqual({ kind: "threw", error, isFinal: false, retryAfter: null });
    }
  }
  const answer = { status: 500, headers: {}, body };
  for (const other of [
    { ...answer, status: 502 },
    { ...answer, body: '{"type":"internal"}' },
  ]) {
    expect(readCallReply(other)).toMatchObject({ kind: "not-the-app" });
  }
});

test("an answer without an end is given up at the first byte beyond 8 MiB, and its line with it", async () => {
  let hasEnded = false;
  const remote = await appThat(async (_, response) => {
    response.on("close", () => {
      hasEnded = true;
    });
    response.writeHead(206, { "content-type": "application/json" });
    const megabyte = Buffer.alloc(1024 * 1024, " ");
    while (!hasEnded) if (!response.write(megabyte)) await once(response, "drain").catch(() => {});
  });
  const max = 8 * 1024 * 1024;
  await expect(remote().call(call)).rejects.toMatchObject({ code: "REPLY_TOO_LARGE", facts: { max } });
  await expect.poll(() => hasEnded).toBe(true);
});
