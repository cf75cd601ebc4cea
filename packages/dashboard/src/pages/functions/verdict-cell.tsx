// The last verdict on a function: what it was, in how many schedules, when, and whether it is about the code that is there.
import { Glyph } from "../../parts/glyph.tsx";
import { StateIcon } from "../../parts/state-icon.tsx";
import { Tag } from "../../parts/tag.tsx";
import { Time } from "../../parts/time.tsx";
import { visibleText } from "../../parts/visible-text.ts";
import type { FunctionInFigures } from "./function-data.ts";
import { playedWords, type Standing, standingOf } from "./verdict-words.ts";
import "./verdict-cell.css";

const signs = {
  doubled: <Glyph name="doubled" size={16} />,
  wrong: <StateIcon state="failed" words={false} />,
  unproven: <Glyph name="unproven" size={16} />,
  never: <StateIcon state="queued" words={false} />,
  held: <StateIcon state="completed" words={false} />,
  with: null,
} as const satisfies Record<Standing, unknown>;

export const VerdictSign = ({ of }: { readonly of: Pick<FunctionInFigures, "verdict" | "verifiedWith"> }) =>
  // Somebody said why it may be: that is not the same as that it holds.
  of.verdict?.verdict === "ACCEPTED" ? <Glyph name="rerun" size={16} /> : signs[standingOf(of)];

export function VerdictCell({
  of,
  nameOf,
}: {
  readonly of: Pick<FunctionInFigures, "verdict" | "verifiedWith">;
  readonly nameOf: (fn: string) => string;
}) {
  const { verdict, verifiedWith } = of;
  if (verifiedWith !== null) return <span className="quiet">with {visibleText(nameOf(verifiedWith))}</span>;
  return (
    <span className="verdict">
      <VerdictSign of={of} />
      {verdict === null ? (
        <span className="quiet">never verified</span>
      ) : (
        <span>
          <b className={standingOf(of) === "doubled" ? "doubled" : ""}>{verdict.verdict}</b> {playedWords(verdict)}
          <small className="faint">
            <Time at={verdict.at} as="ago" /> <SinceTag of={verdict} />
          </small>
        </span>
      )}
    </span>
  );
}

export function SinceTag({ of: { codeSince } }: { readonly of: NonNullable<FunctionInFigures["verdict"]> }) {
  if (codeSince === "same") return null;
  return <Tag tone="waiting">{codeSince === "changed" ? "code changed since" : "code not known"}</Tag>;
}
