import { expect, test } from "vitest";
import { readSyncReply, syncBody, syncHeaders } from "./sync.ts";

const sdk = { "x-inngest-sdk": "inngest-js:v4.24.0", "x-inngest-sdk-handled": "true" };
const inBand = { ...sdk, "x-inngest-sync-kind": "in_band" };
const outOfBand = { ...sdk, "x-inngest-sync-kind": "out_of_band" };

const read = (status: number, headers: Record<string, string>, body: unknown, kind = "dev") =>
  readSyncReply({ status, headers, body: typeof body === "string" ? body : JSON.stringify(body) }, kind);

test("an app is asked to answer with its functions, in a body the SDK takes: nothing but the URL", () => {
  expect(syncHeaders("cloud")).toEqual({
    "content-type": "application/json",
    "x-inngest-server-kind": "cloud",
    "x-inngest-sync-kind": "in_band",
  });
  expect(syncBody("http://localhost:3000/api/inngest")).toBe('{"url":"http://localhost:3000/api/inngest"}');
});

test("functions in the answer are a registration; an answer without them may say that they were told elsewhere", () => {
  const body = { app_id: "shop", url: "http://localhost:3000/x", functions: [] };
  expect(read(200, inBand, body)).toMatchObject({ kind: "functions", registration: { app: "shop", functions: [] } });
  expect(read(200, outOfBand, { message: "ok", modified: true })).toEqual({ kind: "told-elsewhere", modified: true });
  expect(read(200, sdk, { message: "Successfully registered", modified: true })).toEqual({
    kind: "told-elsewhere",
    modified: true,
  });
  expect(read(200, sdk, "rubbish")).toMatchObject({ kind: "refused" });
  expect(read(200, outOfBand, "rubbish")).toEqual({ kind: "told-elsewhere", modified: false });
});

test.each([
  ["not an SDK", read(200, {}, "<html>"), "but not an SDK"],
  ["no functions", read(200, inBand, {}), "app_id"],
  ["rubbish", read(200, inBand, "<html>"), "JSON object"],
  ["an odd function", read(200, inBand, { app_id: "a", url: "http://x", functions: [{ id: "a-b" }] }), '"a-b"'],
  [
    "a server it could not reach",
    read(500, outOfBand, { message: "Failed to register; fetch failed" }),
    "fetch failed",
  ],
  ["a refusal of that server", read(400, outOfBand, { message: "Function x cannot be registered" }), "Function x"],
  ["a missing body", read(500, sdk, { message: "Missing request body when syncing" }), "Missing request body"],
  ["another method", read(405, sdk, ""), "status 405"],
  ["cloud mode, asked by dev", read(401, { "x-inngest-sdk-handled": "true" }, {}), "INNGEST_DEV=1"],
  ["another key", read(401, { "x-inngest-sdk-handled": "true" }, {}, "cloud"), "INNGEST_SIGNING_KEY"],
  ["no key, asked by dev", read(500, sdk, { code: "internal_server_error" }), "set INNGEST_DEV=1"],
  ["no key", read(500, sdk, { code: "internal_server_error" }, "cloud"), "set INNGEST_SIGNING_KEY"],
])("%s: refused with a reason one can act on", (_, answer, why) => {
  expect(answer).toMatchObject({ kind: "refused", why: expect.stringContaining(why) });
});
