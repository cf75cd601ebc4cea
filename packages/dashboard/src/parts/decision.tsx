// A decision in words, with the glyph its outcome has everywhere.
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { isPendingKind } from "../../../idem/src/model/decision.ts";
import { decisionWords } from "../../../idem/src/stories/decision-words.ts";
import type { Answer } from "../api/client.ts";
import { hasPage } from "../pages.ts";
import { Glyph, type GlyphName } from "./glyph.tsx";
import { StateIcon } from "./state-icon.tsx";
import "./decision.css";

export type DecisionItem = Answer<"GET /api/decisions">["decisions"][number];

type Kind = DecisionItem["kind"];

const glyphs: Partial<Record<Kind, GlyphName>> = {
  started: "first",
  "duplicate-event": "suppressed",
  "duplicate-key": "suppressed",
};
export function DecisionGlyph({ kind }: { readonly kind: Kind }) {
  const glyph = glyphs[kind];
  if (glyph !== undefined) return <Glyph name={glyph} />;
  return <StateIcon state={isPendingKind(kind) ? "waiting" : "cancelled"} size={12} words={false} />;
}

const toneOf = (kind: Kind): string =>
  glyphs[kind] === "suppressed" ? "suppressed" : isPendingKind(kind) ? "waiting" : kind === "started" ? "" : "quiet";

export function DecisionWords({
  decision,
  short = false,
}: {
  readonly decision: DecisionItem;
  readonly short?: boolean;
}) {
  const { kind } = decision;
  const { row, beside } = decisionWords[kind];
  return (
    <span className={`decision ${toneOf(kind)}`}>
      <DecisionGlyph kind={kind} />
      <span className={short ? "cut" : ""}>{short ? row(decision.function) : beside}</span>
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
