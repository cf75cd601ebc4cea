import { expect, test } from "vitest";
import { nodePlatform } from "../../platform/node-platform.ts";
import { knownBrowser, knownWord } from "./known-browser.ts";

const roleKey = { role: "operator" as const, key: Buffer.from("a key") };
const day = 86_400_000;

test("a browser is known by the word it was given, for 90 days, until the password is another", () => {
  const word = knownWord(roleKey, 1_000, nodePlatform);
  const browser = knownBrowser([roleKey], word, 1_000 + 89 * day);
  expect(browser).toEqual({ id: expect.stringMatching(/^[\w-]{16}$/), role: "operator" });
  expect(knownBrowser([{ ...roleKey, role: "viewer", key: Buffer.from("x") }, roleKey], word, 1_000)).toEqual(browser);
  expect(knownBrowser([roleKey], word, 1_000 + 90 * day)).toBeNull();
  expect(knownBrowser([{ ...roleKey, key: Buffer.from("another") }], word, 1_000)).toBeNull();
  expect(knownBrowser([], word, 1_000)).toBeNull();
});

test("a word that somebody made up or changed is nobody's", () => {
  const word = knownWord(roleKey, 1_000, nodePlatform);
  const [id, endsAt, mac] = word.split(".");
  const later = `${id}.${(10 ** 15).toString(36)}.${mac}`;
  for (const made of ["", "x", later, `${"A".repeat(16)}.${endsAt}.${mac}`, `${word}A`, word.slice(0, -1), `${word}\n`])
    expect([made, knownBrowser([roleKey], made, 1_000)]).toEqual([made, null]);
});
