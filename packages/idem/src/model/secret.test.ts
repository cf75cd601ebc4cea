import { expect, test } from "vitest";
import { ManualPlatform } from "../platform/manual-platform.ts";
import { isSigningKey, withoutKeyPrefix } from "../protocol/signing-key.ts";
import { type GuardedKind, secretBytes, secretKinds, whyWeak, writtenSecret } from "./secret.ts";

const machine = new ManualPlatform();
const made = (kind: (typeof secretKinds)[number]) => writtenSecret(kind, machine.randomBytes(secretBytes[kind]));

test.each([
  ["signing-key", "ab", "32 are the least"],
  ["signing-key", "0123456789abcdef0123456789abcde", "32 are the least"],
  ["signing-key", "00000000000000000000000000000000", "only 1"],
  ["signing-key", "00ff00ff00ff00ff00ff00ff00ff00ff", "only 2"],
  ["signing-key", "0123456789abcdef0123456789abcdef", "repeats"],
  ["signing-key", "AABBCCDDEEFFaabbccddeeffAABBCCDD", "repeats"],
  ["signing-key", "00112233445566778899aabbccddeeff", "row"],
  ["event-key", "a", "16 are the least"],
  ["event-key", "abcdefghijklmnop", "row"],
  ["event-key", "my-event-key-2024", "everybody tries"],
  ["event-key", "test-key-test-key", "everybody tries"],
  ["password", "x", "12 are the least"],
  ["password", "aaaaaaaaaaaa", "only 1"],
  ["password", "123456789012", "row"],
  ["password", "hunterhunter", "repeats"],
  ["password", "Password1234", "everybody tries"],
  ["password", "change-me-please!", "everybody tries"],
  ["password", "qwertyuiop[]", "everybody tries"],
] satisfies [GuardedKind, string, string][])("a %s such as %s is refused: %s", (kind, text, why) => {
  const words = whyWeak(kind, text);
  expect(words).toContain(why);
  if (text.length > 2) expect(words).not.toContain(text);
});

test.each([
  ["password", "correct horse battery"],
  ["password", "Tr0ub4dor&3 in May"],
  ["password", "überwältigend schön"],
  ["event-key", "6b1f0e9d2c7a4835"],
  ["signing-key", "4f2a9c0e7b1d8356af03c9e2517bd864"],
] satisfies [GuardedKind, string][])("a %s such as %s is taken", (kind, text) => {
  expect(whyWeak(kind, text)).toBeNull();
});

test("what is made is never the same twice, is taken, and a signing key is one of the SDK's format", () => {
  for (let i = 0; i < 200; i++) {
    for (const kind of secretKinds) {
      const text = made(kind);
      expect(text).not.toBe(made(kind));
      if (kind === "secret-key") expect(text).toMatch(/^[0-9a-f]{64}$/);
      else expect([text, whyWeak(kind, withoutKeyPrefix(text))]).toEqual([text, null]);
    }
    expect(isSigningKey(made("signing-key"))).toBe(true);
  }
  expect(made("signing-key")).toMatch(/^signkey-prod-[0-9a-f]{64}$/);
  expect(made("password")).toMatch(/^([2-9a-z]{4}-){7}[2-9a-z]{4}$/);
});
