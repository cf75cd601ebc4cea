import { expect, test } from "vitest";
import { addressHint, bodyOf, type ChannelDraft, channelGoesTo, whyNotYet } from "./channel-words.ts";
import type { Channel } from "./radar-data.ts";

const slack: Channel = {
  name: "ops",
  kind: "slack",
  host: "https://hooks.slack.com",
  urlMark: "3f9a1c20",
  secretMark: null,
  from: null,
  to: [],
  muted: false,
  createdAt: 0,
};
const draft: ChannelDraft = {
  name: "ops",
  kind: "slack",
  url: " https://hooks.slack.com/x ",
  from: "",
  to: "",
  reason: "so",
};

test("a channel is shown by where it goes, never by its whole address", () => {
  expect(channelGoesTo(slack)).toBe("Slack at https://hooks.slack.com");
  const mail = {
    ...slack,
    kind: "email",
    host: "smtps://mail.example.com:465",
    to: ["a@example.com", "b@example.com"],
  };
  expect(channelGoesTo(mail as Channel)).toBe(
    "e-mail at smtps://mail.example.com:465, to a@example.com, b@example.com",
  );
  expect(channelGoesTo({ ...slack, kind: "log", host: null })).toBe("the log");
  expect(addressHint("slack", slack)).toContain("Left empty, the one at https://hooks.slack.com stays");
});

test("only what was said is asked for: an empty address leaves the one that is there, and a kind never changes", () => {
  expect(bodyOf(draft, true)).toEqual({ kind: "slack", url: "https://hooks.slack.com/x", reason: "so" });
  expect(bodyOf({ ...draft, url: "" }, false)).toEqual({ reason: "so" });
  const mail: ChannelDraft = { ...draft, kind: "email", from: "r@example.com", to: "a@example.com,  b@example.com" };
  expect(bodyOf(mail, false)).toMatchObject({ from: "r@example.com", to: ["a@example.com", "b@example.com"] });
  expect(bodyOf({ ...draft, kind: "log" }, true)).toEqual({ kind: "log", reason: "so" });
});

test("a form is ready once nothing is missing", () => {
  expect(whyNotYet(draft, true)).toBeNull();
  expect(whyNotYet({ ...draft, name: "Ops team" }, true)).toBe("name");
  expect(whyNotYet({ ...draft, url: "" }, true)).toBe("address");
  expect(whyNotYet({ ...draft, url: "" }, false)).toBeNull();
  expect(whyNotYet({ ...draft, kind: "email" }, true)).toBe("people");
  expect(whyNotYet({ ...draft, reason: " " }, true)).toBe("reason");
});
