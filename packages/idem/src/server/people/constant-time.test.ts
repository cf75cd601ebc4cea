// That every comparison of a secret takes as long for a wrong one as for a right one is seen in what is compared: always all of them,
// always by the same function, always of one length.
import { beforeEach, expect, test, vi } from "vitest";

const compared: number[][] = [];

vi.mock("node:crypto", async (original) => {
  const crypto = await original<typeof import("node:crypto")>();
  return {
    ...crypto,
    timingSafeEqual: (a: Buffer, b: Buffer) => {
      compared.push([a.length, b.length]);
      return crypto.timingSafeEqual(a, b);
    },
  };
});

// Also for whom it does not count: that a role is not asked about does not show.
const roles = ["viewer"] as const;

const { Passwords } = await import("./passwords.ts");

beforeEach(() => void compared.splice(0));

test.each([
  ["the first password", "open sesame"],
  ["the second", "look only"],
  ["a wrong one as long", "open sesamE"],
  ["a short one", "x"],
  ["a long one", "x".repeat(1_000)],
])("%s is compared with every password, by digests of one length", (_, password) => {
  const given = { password: "open sesame", viewerPassword: "look only" };
  new Passwords(given, async () => null).roleOf(password, roles);
  expect(compared).toEqual([
    [32, 32],
    [32, 32],
  ]);
});

test("the first start's secret is compared as a hash, whatever was typed", async () => {
  const kept = JSON.stringify({ salt: "00".repeat(16), hash: "11".repeat(32) });
  const passwords = new Passwords({}, async () => kept);
  for (const typed of ["x", "x".repeat(1_000)]) await passwords.roleOfAny(typed, roles);
  expect(compared).toEqual([
    [32, 32],
    [32, 32],
  ]);
});
