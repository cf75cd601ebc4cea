import { expect, test } from "vitest";
import { didYouMean, nearestWord } from "./nearest-word.ts";

const words = ["store", "schema", "pool", "txpool", "pooler", "sslmode", "idempotency", "retries", "rateLimit", "id"];

test.each([
  ["stroe", "store"],
  ["shcema", "schema"],
  ["schmea", "schema"],
  ["Schema", "schema"],
  ["sslMode", "sslmode"],
  ["ratelimit", "rateLimit"],
  ["retires", "retries"],
  ["idempotencyKey", "idempotency"],
  ["poler", "pooler"],
  ["pools", "pool"],
  ["pool_size", "pool"],
  ["rate", "rateLimit"],
])("%s is meant as %s", (wrong, right) => {
  expect(nearestWord(wrong, words)).toBe(right);
});

test.each(["", "x", "in", "color", "password", "timeout"])("%j is near no right word, and none is offered", (wrong) => {
  expect(nearestWord(wrong, words)).toBeNull();
  expect(didYouMean(wrong, words)).toBe("");
});

test("a refusal ends with the word that was meant", () => {
  expect(`"stroe" is not an option${didYouMean("stroe", words)}`).toBe(
    '"stroe" is not an option; did you mean "store"?',
  );
});
