// The head of a long list: its time, other filters, words, and actions on all of it.
import type { ReactNode } from "react";
import { useKeys } from "../keys.ts";
import { FilterSelect, Filters, FilterText } from "./field.tsx";
import { timeChoices } from "./time-choices.ts";
import "./filter-head.css";

interface FilterHeadProps {
  /** "7d" or an instant; undefined for all of it. */
  readonly since: string | undefined;
  readonly onSince: (since: string | undefined) => void;
  readonly text: string | undefined;
  /** Says what the words are looked for in. */
  readonly textLabel: string;
  readonly onText: (text: string | undefined) => void;
  /** Suggested while typing. */
  readonly texts?: readonly string[] | undefined;
  /** Further filters, between the two. */
  readonly children?: ReactNode;
  /** Beside the filters, at the end of the line. */
  readonly actions?: ReactNode;
}

const fieldId = "list-filter";
const orNothing = (value: string): string | undefined => (value === "" ? undefined : value);

export function FilterHead({ since, onSince, text, textLabel, onText, texts, children, actions }: FilterHeadProps) {
  useKeys([{ keys: "f", words: "Filter", run: () => document.getElementById(fieldId)?.focus() }]);
  return (
    <div className="filter-head">
      <Filters>
        <FilterSelect
          label="Time"
          value={since ?? ""}
          choices={timeChoices}
          onChange={(value) => onSince(orNothing(value))}
        />
        {children}
        <FilterText
          fieldId={fieldId}
          label={textLabel}
          value={text ?? ""}
          onChange={(value) => onText(orNothing(value))}
          list={texts}
        />
      </Filters>
      {actions}
    </div>
  );
}
