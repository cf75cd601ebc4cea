import { expect, test } from "vitest";
import { bearerTokenOf, isSigningKey, withoutKeyPrefix } from "./signing-key.ts";

// docs/reference/wire.md#keys
const key = "signkey-prod-0123456789abcdef0123456789abcdef";
const token = "signkey-prod-223e0a160af9da0a03e6dd2c4719c56f5d66a633cbe84e78aaa9f3735865522a";

test("the bearer token is the prefix and the hash of the decoded key", () => {
  expect(bearerTokenOf(key)).toBe(token);
  expect(bearerTokenOf(withoutKeyPrefix(key))).toBe(withoutKeyPrefix(token));
  expect(bearerTokenOf(key.toUpperCase().replace("SIGNKEY-PROD-", "signkey-test-"))).toBe(
    token.replace("prod", "test"),
  );
});

test("only a whole prefix is taken off", () => {
  expect(withoutKeyPrefix("signkey-branch-ab")).toBe("ab");
  for (const same of ["ab", "signkey-ab", "xsignkey-prod-ab", "signkey--ab"]) expect(withoutKeyPrefix(same)).toBe(same);
});

test("a key is hex of even length after its prefix", () => {
  for (const good of [key, "ab", "signkey-test-00", "ABCD"]) expect(isSigningKey(good)).toBe(true);
  for (const bad of ["", "abc", "signkey-prod-", "signkey-prod-xyz0", "signkey--00"]) {
    expect(isSigningKey(bad)).toBe(false);
  }
});
