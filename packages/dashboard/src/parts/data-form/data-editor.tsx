// The data of an event as a form or as JSON, whichever its writer likes better.
import { type ReactNode, useEffect, useRef } from "react";
import { Segments, TextArea, TextField } from "../field.tsx";
import { visibleText } from "../visible-text.ts";
import { DataForm } from "./data-form.tsx";
import { plainFields, withField } from "./plain-fields.ts";
import type { DataEntry, EntryView } from "./use-data-entry.ts";
import "./data-form.css";

export function DataEditor({
  entry,
  rows,
  focusFirst = false,
  children,
}: {
  readonly entry: DataEntry;
  readonly rows: number;
  readonly focusFirst?: boolean;
  /** Stands beside the choice of view. */
  readonly children?: ReactNode;
}) {
  const whole = useRef<HTMLDivElement>(null);
  const { isTold, view } = entry;
  useEffect(() => {
    if (isTold) whole.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [isTold]);
  return (
    <div className="data-editor" ref={whole}>
      <div className="side-by-side">
        <Segments
          label="Data as"
          value={view}
          choices={[
            { value: "form", text: "Form" },
            { value: "json", text: "JSON" },
          ]}
          onChange={(value) => entry.setView(value as EntryView)}
        />
        {children}
      </div>
      {view === "form" ? (
        <FormView entry={entry} />
      ) : (
        <TextArea
          label="Data"
          value={entry.text}
          onChange={entry.setText}
          error={entry.unreadable}
          rows={rows}
          mono
          focusFirst={focusFirst}
        />
      )}
      <Told entry={entry} />
    </div>
  );
}

function FormView({ entry }: { readonly entry: DataEntry }) {
  const { group, text, unreadable } = entry;
  if (unreadable !== null) {
    return <p className="failed">{unreadable}. It is kept as it is; correct it as JSON.</p>;
  }
  if (group !== null) return <DataForm entry={entry} group={group} />;
  const fields = plainFields(text);
  if (fields.length === 0) {
    return <p className="quiet">There is no plain field on the first level to fill in. Edit it as JSON.</p>;
  }
  return fields.map((field) => (
    <TextField
      key={field.name}
      label={field.name}
      value={field.value}
      onChange={(value) => entry.edit(withField(text, field, value))}
    />
  ));
}

const namedMax = 5;

/** Why nothing was sent yet. In the form each mistake stands at its field; as JSON they stand here. */
function Told({ entry: { isTold, mistakes, view } }: { readonly entry: DataEntry }) {
  if (!isTold) return null;
  const count = mistakes.length;
  return (
    <div className="told" role="alert">
      <p>
        Nothing was sent: {count === 1 ? "one field does" : `${count} fields do`} not fit the schema. The app decides;
        you may send it anyway.
      </p>
      {view === "json" && (
        <ul>
          {mistakes.slice(0, namedMax).map(({ path, words }) => (
            <li key={JSON.stringify(path)}>
              <b className="mono">{visibleText(path.length === 0 ? "data" : path.join("."))}</b>{" "}
              {words.slice(0, 1).toLowerCase() + words.slice(1)}
            </li>
          ))}
          {count > namedMax && <li>and {count - namedMax} more</li>}
        </ul>
      )}
    </div>
  );
}
