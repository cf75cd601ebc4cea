import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import type { RemoteCall } from "../execute/remote.ts";
import { openHttpCalls } from "../platform/node-http.ts";
import { callApp } from "./call-app.ts";
import { openCredentials } from "./credentials.ts";

const platform = { wallMs: () => 0 };
const credentials = openCredentials({ mode: "dev", eventKeys: [], signingKeys: [] });

test("an answer without an end is given up at the first byte beyond 8 MiB, and its line with it", async () => {
  let hasEnded = false;
  const app = createServer(async (_, response) => {
    response.on("close", () => {
      hasEnded = true;
    });
    response.writeHead(206, { "content-type": "application/json" });
    const megabyte = Buffer.alloc(1024 * 1024, " ");
    while (!hasEnded) if (!response.write(megabyte)) await once(response, "drain").catch(() => {});
  });
  await new Promise<void>((resolve) => app.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void app.close());
  const http = openHttpCalls({ socketsPerHost: 1, connectMsMax: 10_000, callMsMax: 60_000 });
  onTestFinished(() => http.close());
  const url = `http://127.0.0.1:${(app.address() as AddressInfo).port}/api/idem`;
  const remote = callApp("default", url, { http, platform, credentials, mode: "dev", checkUrl: () => {} });
  const call: RemoteCall = {
    fn: "shop-bill",
    runId: "01K",
    stepId: "step",
    planOnly: false,
    body: "{}",
    requestId: "r",
    generation: 1,
    jobId: "j",
    signal: new AbortController().signal,
  };
  const max = 8 * 1024 * 1024;
  await expect(remote.call(call)).rejects.toMatchObject({ code: "REPLY_TOO_LARGE", facts: { max } });
  await expect.poll(() => hasEnded).toBe(true);
});
