// One field for text and for expressions: what speaks of `event` or `output` is an expression, everything else is text.
import { useEffect, useId, useRef, useState } from "react";
import { Icon } from "../../parts/icon.tsx";
import { completions } from "./complete-expression.ts";
import { speaksOfRun, withEquals } from "./expression-words.ts";
import { useFieldPaths } from "./field-paths.ts";

// Typing is not a question yet; a pause is.
const typingMs = 300;

interface ExpressionFieldProps {
  readonly fieldId: string;
  readonly q: string | undefined;
  readonly cel: string | undefined;
  readonly mistake: string | null;
  readonly onChange: (q: string | undefined, cel: string | undefined) => void;
}

export function ExpressionField({ fieldId, q, cel, mistake, onChange }: ExpressionFieldProps) {
  const value = cel ?? q ?? "";
  const [typed, setTyped] = useState(value);
  const last = useRef(value);
  useEffect(() => {
    // The address changed by itself: back, forward, a link.
    if (value !== last.current) setTyped(value);
    last.current = value;
  }, [value]);
  const change = useRef(onChange);
  change.current = onChange;
  useEffect(() => {
    if (typed.trim() === last.current) return;
    const timer = setTimeout(() => {
      const text = typed.trim();
      last.current = text;
      if (text === "") change.current(undefined, undefined);
      else if (speaksOfRun(text)) {
        const meant = withEquals(text);
        last.current = meant;
        if (meant !== text) setTyped(meant);
        change.current(undefined, meant);
      } else change.current(text, undefined);
    }, typingMs);
    return () => clearTimeout(timer);
  }, [typed]);
  const label = "Filter by text, or an expression";
  const [isFocused, setFocused] = useState(false);
  const paths = useFieldPaths(isFocused);
  const listId = useId();
  return (
    <label
      className={`filter is-text${cel === undefined ? "" : " is-expression"}${mistake === null ? "" : " is-mistaken"}`}
    >
      <Icon name="search" size={12} />
      <input
        id={fieldId}
        type="search"
        aria-label={label}
        placeholder="Text or expression"
        title="Text in a key, a function, an event's name or an id; or an expression over event and output, such as event.data.amount > 100"
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
        aria-invalid={mistake !== null}
        aria-describedby={mistake === null ? undefined : "runs-filter-mistake"}
        maxLength={4_096}
        spellCheck={false}
        onFocus={() => setFocused(true)}
        list={listId}
        autoComplete="off"
      />
      <datalist id={listId}>
        {completions(typed, paths).map((each) => (
          <option key={each} value={each} />
        ))}
      </datalist>
    </label>
  );
}
