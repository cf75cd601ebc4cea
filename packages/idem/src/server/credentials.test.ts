import { expect, test } from "vitest";
import { basicPasswordOf, openCredentials, readKey } from "./credentials.ts";

const settings = {
  mode: "start" as const,
  eventKeys: ["first", "staging=second", "base64=="],
  signingKeys: ["signkey-prod-AABB", "ccdd", "staging=eeff"],
};
const basic = (text: string) => `Basic ${Buffer.from(text).toString("base64")}`;

test("a key names its environment, and a key that ends like base64 is a key", () => {
  expect(readKey("k")).toEqual({ env: "default", key: "k" });
  expect(readKey("feature/x=k")).toEqual({ env: "feature/x", key: "k" });
  expect(readKey("abc==")).toEqual({ env: "default", key: "abc==" });
  expect(readKey("staging=abc==")).toEqual({ env: "staging", key: "abc==" });
});

test("every event key opens its own environment and nothing else does", () => {
  const { envOfEventKey } = openCredentials(settings);
  const found = ["first", "second", "base64==", "First", "", "staging=second", "x".repeat(5_000)].map(envOfEventKey);
  expect(found).toEqual(["default", "staging", "default", null, null, null, null]);
});

test("a bearer is a key or its hash, with any prefix or none, in either case", () => {
  const { envOfBearer } = openCredentials(settings);
  // sha256 of the byte pair 0xaa 0xbb
  const hash = "d798d1fac6bd4bb1c11f50312760351013379a0ab6f0a8c0af8a506b96b2525a";
  for (const token of ["AABB", "aabb", "signkey-test-aabb", hash, `signkey-prod-${hash.toUpperCase()}`]) {
    expect([token, envOfBearer(`Bearer ${token}`)]).toEqual([token, "default"]);
  }
  expect(envOfBearer("bearer ccdd")).toBe("default");
  expect(envOfBearer("Bearer eeff")).toBe("staging");
  for (const header of [
    undefined,
    "",
    "Bearer",
    "Bearer ",
    "Bearer undefined",
    "Bearer aabb x",
    "aabb",
    basic("a:aabb"),
  ]) {
    expect([header, envOfBearer(header)]).toEqual([header, null]);
  }
});

test("the password is what follows the first colon, whatever the user is called", () => {
  expect([basic("me:pass:word é"), basic(":pass:word é")].map(basicPasswordOf)).toEqual(["pass:word é", "pass:word é"]);
  expect(basicPasswordOf(basic("pass:word é:"))).not.toBe("pass:word é");
  for (const header of [undefined, "Basic", "Bearer aabb"]) {
    expect([header, basicPasswordOf(header)]).toEqual([header, null]);
  }
});

test("the first signing key of an environment signs, all of it are accepted, and dev has none", () => {
  const { signingKeyOf, signingKeysOf, required } = openCredentials(settings);
  expect([required, signingKeyOf("default"), signingKeysOf("default")]).toEqual([
    true,
    "signkey-prod-AABB",
    ["signkey-prod-AABB", "ccdd"],
  ]);
  expect([signingKeyOf("nobody"), signingKeysOf("nobody")]).toEqual([null, []]);
  const dev = openCredentials({ mode: "dev", eventKeys: [], signingKeys: [] });
  expect([dev.required, dev.signingKeyOf("default")]).toEqual([false, null]);
});
