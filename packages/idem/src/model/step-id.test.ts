import { expect, test } from "vitest";
import { hashStepId } from "./step-id.ts";

test.each([
  ["a", "86f7e437faa5a7fce15d1ddcb9eaeaea377667b8"],
  ["my-step-id", "e7d8a2f140845095749d60246ff1110c9d01d76a"],
  ["complete", "0737c22d3bfae812339732d14d8c7dbd6dc4e09c"],
])("the step %s has the id Inngest's SDK gives it", (userId, id) => {
  expect(hashStepId(userId, 0)).toBe(id);
});

test("each repeat of a step id in a run has an id of its own", () => {
  const ids = [0, 1, 2, 3].map((repeatIndex) => hashStepId("charge", repeatIndex));
  expect(new Set(ids).size).toBe(4);
  expect(ids[2]).toBe(hashStepId("charge:2", 0));
});
