import { SignJWT, UnsecuredJWT } from "jose";
import { expect, test } from "vitest";
import { ManualPlatform } from "../platform/manual-platform.ts";
import { Tokens } from "./tokens.ts";

const keysOf = (keys: Record<string, string[]>) => ({
  signingKeyOf: (env: string) => keys[env]?.[0] ?? null,
  signingKeysOf: (env: string) => keys[env] ?? [],
});

test("a token is good for one use, one environment and a limited time", async () => {
  const platform = new ManualPlatform();
  const tokens = new Tokens(keysOf({ default: ["aa"], staging: ["bb"] }), platform);
  const token = await tokens.mint("default", "realtime", { topics: [] }, 60_000);
  expect(await tokens.read(token, "realtime")).toMatchObject({ env: "default", claims: { topics: [] } });
  expect(await tokens.read(token, "run-output")).toBeNull();
  platform.clock.advance(61_000);
  expect(await tokens.read(token, "realtime")).toBeNull();
});

test("a token outlives a change of keys as long as its key is still accepted, and is known to every server with the key", async () => {
  const platform = new ManualPlatform();
  const token = await new Tokens(keysOf({ default: ["old"] }), platform).mint("default", "run-output", {}, 60_000);
  const both = new Tokens(keysOf({ default: ["new", "old"] }), platform);
  const after = new Tokens(keysOf({ default: ["new"] }), platform);
  expect(await both.read(token, "run-output")).not.toBeNull();
  expect(await after.read(token, "run-output")).toBeNull();
});

test("what nobody here signed is no token, whatever it claims", async () => {
  const platform = new ManualPlatform();
  const tokens = new Tokens(keysOf({ default: ["aa"] }), platform);
  const claims = { env: "default", topics: [] };
  const signed = await new SignJWT(claims)
    .setProtectedHeader({ alg: "HS256" })
    .setAudience("realtime")
    .setExpirationTime(4e9)
    // The signing key itself does not sign tokens.
    .sign(Buffer.from("aa"));
  const unsigned = new UnsecuredJWT(claims).setAudience("realtime").setExpirationTime(4e9).encode();
  const huge = "x".repeat(10_000);
  for (const token of [signed, unsigned, huge, "", "a.b.c", null]) {
    expect(await tokens.read(token, "realtime")).toBeNull();
  }
  const other = new Tokens(keysOf({}), platform);
  expect(
    await other.read(await new Tokens(keysOf({}), platform).mint("default", "realtime", {}, 1_000), "realtime"),
  ).toBeNull();
});
