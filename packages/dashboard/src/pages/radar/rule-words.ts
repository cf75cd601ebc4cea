// A rule as the sentence it is, and the name it is kept under.
import { lengthWords } from "../../parts/time-words.ts";
import type { Rule, RuleDraft } from "./radar-data.ts";

export const withinChoices = [
  { value: "1s", text: "1 s" },
  { value: "5s", text: "5 s" },
  { value: "10s", text: "10 s" },
  { value: "60s", text: "60 s" },
  { value: "5m", text: "5 m" },
  { value: "15m", text: "15 m" },
  { value: "1h", text: "1 h" },
];

/** A minute is said as it is chosen: 60 s. */
export const withinWords = (ms: number): string => (ms <= 60_000 ? `${ms / 1_000} s` : lengthWords(ms));

export function ruleSentence({ more, what, of, withinMs, function: fn }: Rule): string {
  const noun = more === 1 ? what.slice(0, -1) : what;
  const thing =
    of === "best-guess"
      ? "entity (its key, or our best guess)"
      : of === "key"
        ? "key"
        : what === "effects"
          ? "entity of one destination"
          : of.replace(/^event\.data\./, "");
  const where = what !== "runs" ? "" : ` in ${fn ?? "every function"}`;
  return `Alert when more than ${more} ${noun} for one ${thing} within ${withinWords(withinMs)}${where}`;
}

const nameChars = 64;

/** The same sentence has the same name: a rule that is made twice is one. */
export function ruleName({ more, what, of, within, function: fn }: RuleDraft): string {
  const text = [`more-than-${more}`, what, of.replace(/^event\.data\./, ""), within, fn]
    .filter((part) => part !== "")
    .join("-");
  return text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, nameChars)
    .replace(/-+$/, "");
}
