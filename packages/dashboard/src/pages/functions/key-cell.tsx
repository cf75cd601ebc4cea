import { Glyph } from "../../parts/glyph.tsx";
import { visibleText } from "../../parts/visible-text.ts";
import type { FunctionInFigures } from "./function-data.ts";

/** No key is said in magenta, never by an empty cell. */
export function KeyCell({
  of: { key, suggestedKey },
}: {
  readonly of: Pick<FunctionInFigures, "key" | "suggestedKey">;
}) {
  if (key !== null) return <code>{visibleText(key.expression)}</code>;
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
