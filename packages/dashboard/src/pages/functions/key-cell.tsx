import { Glyph } from "../../parts/glyph.tsx";
import { visibleText } from "../../parts/visible-text.ts";
import type { FunctionInFigures } from "./function-data.ts";

/** No key is said in magenta, never by an empty cell; one that is left out for a reason is said with it. */
export function KeyCell({
  of: { key, unkeyed, suggestedKey },
}: {
  readonly of: Pick<FunctionInFigures, "key" | "unkeyed" | "suggestedKey">;
}) {
  if (key !== null) return <code>{visibleText(key.expression)}</code>;
  if (unkeyed !== null) return <span className="quiet">none: {visibleText(unkeyed)}</span>;
  return (
    <span className="doubled no-key">
      <Glyph name="doubled" size={14} />
      <span>
        none
        {suggestedKey !== null && (
          <>
            , suggested: <code>{visibleText(suggestedKey)}</code>
          </>
        )}
      </span>
    </span>
  );
}
