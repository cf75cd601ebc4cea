// Row 12 of the pitfalls. The time of a comparison cannot be tested without being flaky; which function makes it, can.
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test, vi } from "vitest";

const compared = vi.hoisted(() => ({ count: 0 }));
vi.mock("node:crypto", async (original) => {
  const crypto = await original<typeof import("node:crypto")>();
  return {
    ...crypto,
    timingSafeEqual: (a: Uint8Array, b: Uint8Array) => {
      compared.count++;
      return crypto.timingSafeEqual(a, b);
    },
  };
});

const { isAnySame, isSame } = await import("./signature.ts");

test("every secret is compared with every signature, whichever matches, and only by the constant-time function", () => {
  const bytes = (n: number) => Buffer.alloc(32, n);
  for (const matching of [0, 1, 2, 9]) {
    compared.count = 0;
    expect(isAnySame([bytes(0), bytes(1), bytes(2)], [bytes(matching), bytes(7)])).toBe(matching < 3);
    expect(compared.count).toBe(6);
  }
});

test("another length is refused without a comparison", () => {
  compared.count = 0;
  expect(isSame(Buffer.alloc(32), Buffer.alloc(31))).toBe(false);
  expect(isSame(Buffer.alloc(32), Buffer.alloc(0))).toBe(false);
  expect(compared.count).toBe(0);
});

test("no provider compares by itself: what is made with a secret goes into isSame or isAnySame", () => {
  const folder = fileURLToPath(new URL("./", import.meta.url));
  // It is given what was verified, and has no secret.
  const withoutSecret = "github-events.ts";
  const names = readdirSync(`${folder}providers`).filter((name) => name !== withoutSecret);
  const files = names.map((name) => `providers/${name}`);
  for (const file of [...files, "stamped-list.ts"]) {
    const text = readFileSync(`${folder}${file}`, "utf8");
    expect([file, /\b(made|given|signature)\w*\s*[!=]==?(?!=|\s*null\b)/.test(text)]).toEqual([file, false]);
    expect([file, /timingSafeEqual|\.equals\(|\.compare\(/.test(text)]).toEqual([file, false]);
    // Two of them hand the whole to what is looked at beside them.
    expect([file, /isAnySame\(|verifyStampedList\(/.test(text)]).toEqual([file, true]);
  }
});
