import { expect, test } from "vitest";
import { readCallReply } from "./call-reply.ts";
import { readInBandReply, readRegisterRequest } from "./register-request.ts";
import { checkSdkVersion, unsupportedSdkVersion } from "./sdk-version.ts";

test.each([
  ["inngest-js:v2.7.2", "2.7.2"],
  ["js:v0.9.3", "0.9.3"],
  ["js:v3.0.0", "3.0.0"],
  ["js:3.11.0", "3.11.0"],
  ["inngest-js:v3.11.99", "3.11.99"],
  ["js:v2.4.2-pr-294.47", "2.4.2-pr-294.47"],
])("%s is not supported", (sdk, version) => {
  expect(unsupportedSdkVersion(sdk)).toBe(version);
});

test.each([
  ...["inngest-js:v3.12.0", "js:v3.12.0-beta.1", "js:v3.22.14-pr-721.1", "js:v3.100.0", "js:v4.0.0", "js:v10.0.0"],
  ...["py:v0.4.1", "inngest-py:v0.3.0", "go:v0.7.2", "idem:v0.1.0", "durable-endpoint"],
  ...["js:v4", "js:latest", "js:v2", "", "js:", "xjs:v2.0.0", undefined, null, 3, { js: "v2.0.0" }],
])("%s is left as it is", (sdk) => {
  expect(unsupportedSdkVersion(sdk)).toBeNull();
});

test("the refusal names the app, its version, the oldest supported version and the command that upgrades", () => {
  expect(() => checkSdkVersion("shop", "js:v3.11.0")).toThrow(
    'App "shop" cannot be registered: it uses inngest 3.11.0, and Idem supports 3.12.0 and newer. Run npm install inngest@latest',
  );
});

test("a registration by an old SDK is refused for its version and not for the ids of its functions", () => {
  // SDK 2 makes its functions' ids from the app's name in another spelling.
  const body = {
    url: "http://shop.example/api/inngest?token=secret",
    functions: [{ id: "my-shop-pay" }],
    sdk: "js:v2.7.2",
  };
  const refusal = /^App "http:\/\/shop.example\/api\/inngest" cannot be registered: it uses inngest 2\.7\.2/;
  expect(() => readRegisterRequest({ ...body, appName: "My Shop" })).toThrow(refusal);
  expect(() => readInBandReply({ ...body, app_id: "My Shop" })).toThrow(refusal);
});

test("a call's reply from an old SDK is never read as a result", () => {
  const reply = (sdk: string) =>
    readCallReply({ status: 200, headers: { "x-inngest-sdk": sdk, "x-inngest-req-version": "1" }, body: '{"data":2}' });
  expect(reply("inngest-js:v3.11.0")).toEqual({
    kind: "not-the-app",
    why: "it uses inngest 3.11.0, and Idem supports 3.12.0 and newer",
  });
  expect(reply("inngest-js:v3.12.0")).toMatchObject({ kind: "returned" });
});
