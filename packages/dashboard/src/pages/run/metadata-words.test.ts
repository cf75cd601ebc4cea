import { expect, test } from "vitest";
import { metadataPairs, metadataTitle } from "./metadata-words.ts";

const values = (value: unknown) => ({ value, bytes: 0, isOmitted: false });

test("an author's kind is told without the wire's word, and a score by its number", () => {
  expect(["userland.default", "userland.customer", "inngest.score", "other.kind"].map(metadataTitle)).toEqual([
    "Metadata",
    "customer",
    "Scores",
    "other.kind",
  ]);
  expect(metadataPairs({ kind: "inngest.score", values: values({ helpful: { value: 0.5 }, odd: 2 }) })).toEqual([
    ["helpful", "0.5"],
    ["odd", "2"],
  ]);
  expect(metadataPairs({ kind: "userland.x", values: values({ a: "b", c: { d: [1] }, e: null }) })).toEqual([
    ["a", "b"],
    ["c", '{"d":[1]}'],
    ["e", "null"],
  ]);
});
