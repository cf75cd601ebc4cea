import { expect, test } from "vitest";
import { closeness, entityNoun, entityText, gather, plural, titleOf } from "./alert-words.ts";
import type { Alert } from "./radar-data.ts";
import { ruleName, ruleSentence } from "./rule-words.ts";
import { doubtsOf } from "./suggestion-words.ts";

const alert: Alert = {
  id: "a",
  kind: "doubled-runs",
  function: "agency-draft",
  subject: "event.data.placementId",
  state: "open",
  title: "as the server says it",
  next: "",
  line: null,
  firstAt: 0,
  lastAt: 0,
  pairCount: 1,
  of: "run",
  differs: [],
  judgedBy: null,
  judgedAt: null,
  note: null,
  mutedUntil: null,
};
const pairs = [
  {
    entity: "48213",
    firstId: "01M7GREA7FBC28KC5V3EC7KJ59",
    laterId: "01M7GREA86A5EVBJY47C6XNN89",
    at: 0,
    verify: null,
  },
];

test("an alert says what ran twice in words of the business, not of the machine", () => {
  const one = gather(pairs);
  expect(titleOf(alert, "draft", one, 1)).toBe("draft ran twice for placement 48213");
  expect(titleOf(alert, "draft", one, 73)).toBe("draft ran twice for 73 placements");
  const missing = { ...alert, kind: "key-missing" };
  expect(titleOf(missing, "draft", one, 3)).toBe("The key of draft was missing in 3 events; they ran");
  const broad = { ...alert, kind: "key-too-broad", differs: ["event.data.amount"] };
  expect(titleOf(broad, "pay", one, 1)).toBe("A suppressed event had another amount than the one it was answered with");
  const equal = { ...alert, kind: "equal-events", of: "event" } as const;
  expect(titleOf(equal, "pay", one, 1)).toBe("2 nearly equal events ran pay, each under a key of its own");
  const source = { ...alert, kind: "doubled-deliveries", subject: "bullhorn", of: "event" } as const;
  expect(titleOf(source, "", one, 9)).toBe(
    "The new source bullhorn delivered the same thing again 9 times: maybe the same",
  );
  expect(titleOf({ ...alert, kind: "of a newer server" }, "draft", one, 1)).toBe("as the server says it");
});

test("how close together they came is read from the ids of the pairs", () => {
  const [one] = gather(pairs);
  expect(one!.gapMs).toBe(23);
  expect(closeness([one!], "run")).toBe("The two began less than 1 s apart.");
  expect(closeness(gather([{ ...pairs[0]!, firstId: null }]), "run")).toBeNull();
});

test("a field names its thing, and a thing has a plural", () => {
  expect(entityNoun("event.data.placementId")).toBe("placement");
  expect(entityNoun("event.data.order_number")).toBe("order");
  expect(entityNoun('event.data["job order"]')).toBe("order");
  expect(entityNoun("key")).toBe("key");
  expect([plural("delivery", 2), plural("batch", 2), plural("placement", 1)]).toEqual([
    "deliveries",
    "batches",
    "placement",
  ]);
});

test("a value of a stranger is shown without its quotes and without power over the text around it", () => {
  expect(entityText('"evt\\u202e7"')).toBe("evt‹U+202E›7");
  expect(entityText("48213")).toBe("48213");
});

test("a key that would have swallowed another amount is a doubt, not a suggestion", () => {
  const suggestion = {
    function: "f",
    expression: "event.data.clientId",
    line: "x",
    keyExpression: null,
    runCount: 146,
    suppressedCount: 73,
    entityCount: 73,
    presentCount: 146,
    differs: ["data.eventType"],
    evidence: [],
    refused: [],
    leftOut: [],
  };
  expect(doubtsOf(suggestion)).toEqual([]);
  expect(doubtsOf({ ...suggestion, differs: ["data.totalAmount"] })).toEqual([
    "event.data.clientId would have suppressed runs with another totalAmount than their first run.",
  ]);
});

test("a rule is a sentence, and the same sentence has the same name", () => {
  const draft = { more: 1, what: "runs", of: "event.data.placementId", within: "60s", function: "" } as const;
  expect(ruleName(draft)).toBe("more-than-1-runs-placementid-60s");
  expect(
    ruleSentence({
      name: "x",
      more: 2,
      what: "events",
      of: "event.data.id",
      withinMs: 300_000,
      function: null,
      muted: false,
    }),
  ).toBe("Alert when more than 2 events for one id within 5 m");
  const effects = { name: "x", more: 1, what: "effects", of: "entity", withinMs: 60_000, function: null } as const;
  expect(ruleSentence({ ...effects, muted: false })).toBe(
    "Alert when more than 1 effect for one entity of one destination within 60 s",
  );
  expect(ruleName({ ...draft, what: "effects", of: "entity" })).toBe("more-than-1-effects-entity-60s");
});
