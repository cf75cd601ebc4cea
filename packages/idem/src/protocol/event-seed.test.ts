import { expect, test } from "vitest";
import { ulidTime } from "../model/ulid.ts";
import { idsOfSeed } from "./event-seed.ts";

// Captured from the SDK.
const seed = "1794727034207,yRQDRSeHfIdZEQ==";

test("the same seed gives the same ids, one for each event, in order", () => {
  const ids = idsOfSeed(seed, 3)!;
  expect(idsOfSeed(seed, 3)).toEqual(ids);
  expect(new Set(ids).size).toBe(3);
  expect([...ids].sort()).toEqual(ids);
  for (const id of ids) expect(ulidTime(id)).toBe(1_794_727_034_207);
});

test("the entropy is the seed's with the event's number, from 1, added to its last four bytes", () => {
  const zeros = idsOfSeed(`1794727034207,${Buffer.alloc(10).toString("base64")}`, 2)!;
  expect(zeros.map((id) => id.slice(10))).toEqual(["0000000000000001", "0000000000000002"]);
  const ones = idsOfSeed(`1794727034207,${Buffer.alloc(10, 0xff).toString("base64")}`, 2)!;
  // The carry stays inside the four bytes.
  expect(ones.map((id) => id.slice(10))).toEqual(["ZZZZZZZZZW000000", "ZZZZZZZZZW000001"]);
});

test.each([
  undefined,
  "",
  "1794727034207",
  "1794727034207,",
  "soon,yRQDRSeHfIdZEQ==",
  "-5,yRQDRSeHfIdZEQ==",
  "1794727034207,yRQDRSeHfIdZ",
  "1794727034207,yRQDRSeHfIdZEQAA",
  "1794727034207,yRQDRSeHfIdZE!==",
  "1794727034207.5,yRQDRSeHfIdZEQ==",
  "0,yRQDRSeHfIdZEQ==",
  "999999999999999,yRQDRSeHfIdZEQ==",
])("a seed that cannot be used is as good as none: %s", (header) => {
  expect(idsOfSeed(header, 1)).toBeNull();
});
