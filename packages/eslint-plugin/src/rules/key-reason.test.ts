import { tell } from "../cases.suite.ts";

tell("key-reason", {
  right: {
    "a comment on the key's line": `idem.createFunction({
      id: "a",
      idempotency: "event.data.placementId", // one invoice for each placement
    }, { event: "b/c" }, async () => {});`,
    "a comment above it": `idem.createFunction({
      id: "a",
      // one invoice for each placement
      idempotency: "event.data.placementId",
    }, { event: "b/c" }, async () => {});`,
    because: `idem.createFunction({ id: "a", idempotency: { key: "event.data.placementId", because: "one invoice each" } }, { event: "b/c" }, async () => {});`,
    "no key at all, which is another rule's": `idem.createFunction({ id: "a" }, { event: "b/c" }, async () => {});`,
  },
  wrong: {
    "a key without a word": {
      code: `idem.createFunction({ id: "a", idempotency: "event.data.placementId" }, { event: "b/c" }, async () => {});`,
      ids: ["silent"],
      says: '"event.data.placementId"',
    },
  },
});
