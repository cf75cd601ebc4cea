// What became of one event for one function, in words, with the glyph its outcome has everywhere.
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { Answer } from "../api/client.ts";
import { hasPage } from "../pages.ts";
import { Glyph, type GlyphName } from "./glyph.tsx";
import { StateIcon } from "./state-icon.tsx";
import "./decision.css";

export type DecisionItem = Answer<"GET /api/decisions">["decisions"][number];

type Kind = DecisionItem["kind"];

/** "It ‹words› ‹function›": short, for a row. */
const shortWords: Readonly<Record<Kind, (fn: string) => string>> = {
  started: (fn) => `started ${fn}`,
  "duplicate-event": (fn) => `duplicate event for ${fn}`,
  "duplicate-key": (fn) => `duplicate key of ${fn}`,
  filtered: (fn) => `filtered by ${fn}`,
  debounced: (fn) => `waits for quiet in ${fn}`,
  batched: (fn) => `in a batch of ${fn}`,
  "rate-limited": (fn) => `over the rate of ${fn}`,
  "singleton-skipped": (fn) => `${fn} was already open`,
  paused: (fn) => `${fn} is paused`,
  held: (fn) => `held: its key for ${fn} is missing`,
  dropped: (fn) => `dropped for ${fn}`,
  missed: (fn) => `missed by ${fn}`,
};

/** A sentence's beginning, for where the function stands beside it. */
const words: Readonly<Record<Kind, string>> = {
  started: "started a run",
  "duplicate-event": "duplicate, its id came before",
  "duplicate-key": "duplicate, its key is taken",
  filtered: "filtered, nothing ran",
  debounced: "waits for quiet",
  batched: "waits for its batch",
  "rate-limited": "over the rate, nothing ran",
  "singleton-skipped": "skipped, one was open",
  paused: "waits, the function is paused",
  held: "held, its key is missing",
  dropped: "dropped by a person",
  missed: "missed, nobody was there",
};

const glyphs: Partial<Record<Kind, GlyphName>> = {
  started: "first",
  "duplicate-event": "suppressed",
  "duplicate-key": "suppressed",
};
const isPending = (kind: Kind): boolean =>
  kind === "debounced" || kind === "batched" || kind === "paused" || kind === "held";

export function DecisionGlyph({ kind }: { readonly kind: Kind }) {
  const glyph = glyphs[kind];
  if (glyph !== undefined) return <Glyph name={glyph} />;
  return <StateIcon state={isPending(kind) ? "waiting" : "cancelled"} size={12} words={false} />;
}

const toneOf = (kind: Kind): string =>
  glyphs[kind] === "suppressed" ? "suppressed" : isPending(kind) ? "waiting" : kind === "started" ? "" : "quiet";

export function DecisionWords({
  decision,
  short = false,
}: {
  readonly decision: DecisionItem;
  readonly short?: boolean;
}) {
  const { kind } = decision;
  return (
    <span className={`decision ${toneOf(kind)}`}>
      <DecisionGlyph kind={kind} />
      <span className={short ? "cut" : ""}>{short ? shortWords[kind](decision.function) : words[kind]}</span>
    </span>
  );
}

/** A link to the run where there is a page for it. */
export const runLink = (run: string, text: ReactNode): ReactNode =>
  hasPage("/runs/$run") ? (
    <Link to="/runs/$run" params={{ run }}>
      {text}
    </Link>
  ) : (
    text
  );

export const functionLink = (fn: string): ReactNode =>
  hasPage("/functions/$fn") ? (
    <Link to="/functions/$fn" params={{ fn }}>
      {fn}
    </Link>
  ) : (
    fn
  );
