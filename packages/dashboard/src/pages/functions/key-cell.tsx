import { Glyph } from "../../parts/glyph.tsx";
import { visibleText } from "../../parts/visible-text.ts";
import type { FunctionInFigures } from "./function-data.ts";

/** No key is never an empty cell: in magenta where it ran twice or would, else as something nobody said; one that is left out for a reason is said with it. */
export function KeyCell({
  of: { key, unkeyed, suggestedKey, day, verdict },
}: {
  readonly of: Pick<FunctionInFigures, "key" | "unkeyed" | "suggestedKey" | "day" | "verdict">;
}) {
  if (key !== null) return <code>{visibleText(key.expression)}</code>;
  if (unkeyed !== null) return <span className="quiet">none: {visibleText(unkeyed)}</span>;
  const isTwice = day.slipped > 0 || verdict?.verdict === "DOUBLED";
  return (
    <span className={isTwice ? "doubled no-key" : "waiting no-key"}>
      {isTwice && <Glyph name="doubled" size={14} />}
      <span>
        {isTwice ? "none" : "none, and no reason given"}
        {suggestedKey !== null && (
          <>
            , suggested: <code>{visibleText(suggestedKey)}</code>
          </>
        )}
      </span>
    </span>
  );
}
