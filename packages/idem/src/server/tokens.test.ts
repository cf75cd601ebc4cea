import { createHmac } from "node:crypto";
import { jwtVerify, SignJWT, UnsecuredJWT } from "jose";
import { expect, test } from "vitest";
import { ManualPlatform } from "../platform/manual-platform.ts";
import { Tokens } from "./tokens.ts";

const keysOf = (keys: Record<string, string[]>) => ({
  signingKeyOf: (env: string) => keys[env]?.[0] ?? null,
  signingKeysOf: (env: string) => keys[env] ?? [],
});

test("a token is good for one use, one environment and a limited time", () => {
  const platform = new ManualPlatform();
  const tokens = new Tokens(keysOf({ default: ["aa"], staging: ["bb"] }), platform);
  const token = tokens.mint("default", "realtime", { topics: [] }, 60_000);
  expect(tokens.read(token, "realtime")).toMatchObject({ env: "default", claims: { topics: [] } });
  expect(tokens.read(token, "run-output")).toBeNull();
  platform.clock.advance(61_000);
  expect(tokens.read(token, "realtime")).toBeNull();
});

test("a token outlives a change of keys as long as its key is still accepted, and is known to every server with the key", () => {
  const platform = new ManualPlatform();
  const token = new Tokens(keysOf({ default: ["old"] }), platform).mint("default", "run-output", {}, 60_000);
  const both = new Tokens(keysOf({ default: ["new", "old"] }), platform);
  const after = new Tokens(keysOf({ default: ["new"] }), platform);
  expect(both.read(token, "run-output")).not.toBeNull();
  expect(after.read(token, "run-output")).toBeNull();
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
    expect(tokens.read(token, "realtime")).toBeNull();
  }
  const other = new Tokens(keysOf({}), platform);
  expect(other.read(new Tokens(keysOf({}), platform).mint("default", "realtime", {}, 1_000), "realtime")).toBeNull();
});

test("a token of ours is a JWT to others, and of theirs only what we could have written is one to us", async () => {
  const platform = new ManualPlatform();
  const tokens = new Tokens(keysOf({ default: ["aa"] }), platform);
  const secret = createHmac("sha256", "aa").update("idem token\nrealtime\ndefault").digest();
  const token = tokens.mint("default", "realtime", { topics: ["a"] }, 60_000);
  const currentDate = new Date(platform.wallMs());
  const read = await jwtVerify(token, secret, { algorithms: ["HS256"], audience: "realtime", currentDate });
  expect(read.payload).toEqual(tokens.read(token, "realtime")!.claims);
  const madeBy = (alg: string, claims: Record<string, unknown>, at = 4e9) =>
    new SignJWT(claims).setProtectedHeader({ alg }).setAudience("realtime").setExpirationTime(at).sign(secret);
  expect(tokens.read(await madeBy("HS256", { env: "default" }), "realtime")).toMatchObject({ env: "default" });
  expect(tokens.read(await madeBy("HS512", { env: "default" }), "realtime")).toBeNull();
  expect(tokens.read(await madeBy("HS256", { env: 1 }), "realtime")).toBeNull();
  expect(tokens.read(await madeBy("HS256", { env: "default" }, 1), "realtime")).toBeNull();
  const endless = await new SignJWT({ env: "default" })
    .setProtectedHeader({ alg: "HS256" })
    .setAudience("realtime")
    .sign(secret);
  expect(tokens.read(endless, "realtime")).toBeNull();
});

test("a token with any character changed, added or taken away is none", () => {
  const tokens = new Tokens(keysOf({ default: ["aa"] }), new ManualPlatform());
  const token = tokens.mint("default", "realtime", { topics: ["a"] }, 60_000);
  const near = [...token].flatMap((letter, i) => {
    const others = ["A", "b", ".", "="].filter((each) => each !== letter);
    const [before, after] = [token.slice(0, i), token.slice(i + 1)];
    return [
      `${before}${after}`,
      ...others.flatMap((each) => [`${before}${each}${after}`, `${before}${each}${letter}${after}`]),
    ];
  });
  expect(near.filter((each) => tokens.read(each, "realtime") !== null)).toEqual([]);
  expect(tokens.read(token, "realtime")).not.toBeNull();
});
