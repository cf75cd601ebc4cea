// The fields of a schema, drawn one under another. Each shows what stands at its place in the text, and puts there what is typed.
import { useEffect, useRef, useState } from "react";
import { Button } from "../button.tsx";
import { SelectField, TextArea, TextField } from "../field.tsx";
import { entriesOf, type JsonSlice, stringOf } from "../json-text.ts";
import { visibleText } from "../visible-text.ts";
import { placeOf } from "./check-data.ts";
import { choiceWords, hintOf, labelOf } from "./field-words.ts";
import { type Path, sliceOf, withLiteral, withoutValue } from "./json-edit.ts";
import { jsonMistake } from "./plain-fields.ts";
import type { ChoiceShape, DataField, GroupShape, ItemShape, ListShape } from "./schema-fields.ts";
import type { DataEntry } from "./use-data-entry.ts";

/** The facts every field needs of the entry it stands in. */
interface Form {
  readonly entry: DataEntry;
  /** The mistake at a place, once it is to be shown. */
  errorAt(path: Path): string | null;
  /** Somebody was there and left. */
  leave(path: Path): void;
}

export function DataForm({ entry, group }: { readonly entry: DataEntry; readonly group: GroupShape }) {
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set());
  const byPlace = new Map(entry.mistakes.map((mistake) => [placeOf(mistake.path), mistake]));
  const form: Form = {
    entry,
    errorAt: (path) => {
      const mistake = byPlace.get(placeOf(path));
      if (mistake === undefined) return null;
      // While a person types, an unfinished value is not wrong yet.
      return entry.isTold || (left.has(placeOf(path)) && !mistake.isMissing) ? mistake.words : null;
    },
    leave: (path) => setLeft((now) => (now.has(placeOf(path)) ? now : new Set(now).add(placeOf(path)))),
  };
  return <Fields form={form} group={group} path={[]} />;
}

function Fields({ form, group, path }: { readonly form: Form; readonly group: GroupShape; readonly path: Path }) {
  const { text } = form.entry;
  const slice = sliceOf(text, path);
  const known = new Set(group.fields.map(({ name }) => name));
  const others =
    slice?.kind === "object" ? entriesOf(text, slice, 20).entries.filter(({ name }) => !known.has(String(name))) : [];
  return (
    <>
      {group.fields.map((field) => (
        <Field key={field.name} form={form} field={field} path={[...path, field.name]} />
      ))}
      {others.length > 0 && (
        <p className="quiet">
          The data has more that the schema does not name:{" "}
          {others.map(({ name }) => visibleText(String(name))).join(", ")}. It is sent too; JSON shows it.
        </p>
      )}
      {!group.isWhole && <p className="quiet">There are more fields than a form has room for. JSON takes them all.</p>}
    </>
  );
}

interface FieldProps<F> {
  readonly form: Form;
  readonly field: F;
  readonly path: Path;
}

function Field({ form, field, path }: FieldProps<DataField>) {
  const { entry } = form;
  switch (field.kind) {
    case "group":
      return (
        <fieldset className="data-group">
          <legend>{labelOf(field)}</legend>
          <About field={field} error={form.errorAt(path)} />
          <Fields form={form} group={field} path={path} />
        </fieldset>
      );
    case "list":
      return <ListField form={form} field={field} path={path} />;
    case "json":
      return <JsonField form={form} field={field} path={path} />;
    default:
      return (
        <ItemField
          form={form}
          shape={field}
          path={path}
          label={labelOf(field)}
          hint={hintOf(field)}
          empty={field.isRequired ? "choose" : "left out"}
          onEmpty={() => entry.edit(emptied(entry.text, field, path))}
        />
      );
  }
}

function About({ field, error }: { readonly field: DataField; readonly error: string | null }) {
  const hint = hintOf(field);
  if (error !== null) return <p className="failed">{error}</p>;
  return hint === null ? null : <p className="faint">{hint}</p>;
}

/** Nothing typed is nothing sent, but where the field must be there and may be null. */
const emptied = (text: string, field: DataField, path: Path): string =>
  field.isNullable && field.isRequired ? withLiteral(text, path, "null") : withoutValue(text, path);

const shown = (text: string, slice: JsonSlice | null): string => {
  if (slice === null || slice.kind === "null") return "";
  const literal = text.slice(slice.start, slice.end);
  return slice.kind === "string" ? stringOf(literal) : literal;
};

const isNumber = (text: string): boolean => /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(text);

/** One plain value: a text, a number or a choice. */
function ItemField({
  form,
  shape,
  path,
  label,
  hint,
  empty,
  onEmpty,
}: {
  readonly form: Form;
  readonly shape: ItemShape;
  readonly path: Path;
  readonly label: string;
  readonly hint: string | null;
  readonly empty: string;
  readonly onEmpty: () => void;
}) {
  const { text, edit } = form.entry;
  const slice = sliceOf(text, path);
  const onLeave = () => form.leave(path);
  const common = { label, error: form.errorAt(path), onLeave, ...(hint === null ? {} : { hint }) };
  const put = (literal: string) => edit(withLiteral(text, path, literal));
  if (shape.kind === "choice") {
    const value = slice === null ? "" : JSON.stringify(JSON.parse(text.slice(slice.start, slice.end)));
    return (
      <SelectField
        {...common}
        value={value}
        choices={choicesOf(shape, value, empty)}
        onChange={(literal) => (literal === "" ? onEmpty() : put(literal))}
      />
    );
  }
  const value = shown(text, slice);
  const type = (typed: string) => {
    if (typed === "") onEmpty();
    // Half a number is kept as the text it is, and told as such.
    else put(shape.kind === "number" && isNumber(typed.trim()) ? typed.trim() : JSON.stringify(typed));
  };
  // One line would lose the others.
  if (shape.kind === "text" && value.includes("\n")) {
    return <TextArea {...common} value={value} onChange={type} rows={4} />;
  }
  return (
    <TextField {...common} value={value} onChange={type} inputMode={shape.kind === "number" ? "decimal" : "text"} />
  );
}

function choicesOf({ literals }: ChoiceShape, value: string, empty: string) {
  const all = value === "" || literals.includes(value) ? literals : [...literals, value];
  return [{ value: "", text: empty }, ...all.map((each) => ({ value: each, text: choiceWords(each) }))];
}

// A longer list is read more easily as JSON.
const itemsMax = 50;

function ListField({ form, field, path }: FieldProps<DataField & ListShape>) {
  const { text, edit } = form.entry;
  const slice = sliceOf(text, path);
  const count = slice?.kind === "array" ? entriesOf(text, slice, 0).count : 0;
  const whole = useRef<HTMLFieldSetElement>(null);
  const moved = useRef<"added" | "removed" | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: focus moves when the list grew or shrank under it, and only then
  useEffect(() => {
    const items = whole.current?.querySelectorAll<HTMLElement>(".data-item :is(input, select, textarea)");
    const add = whole.current?.querySelector<HTMLElement>(".data-add button");
    if (moved.current !== null) (moved.current === "added" ? items?.item(items.length - 1) : add)?.focus();
    moved.current = null;
  }, [count]);
  const isOther = slice !== null && slice.kind !== "array" && slice.kind !== "null";
  if (count > itemsMax || isOther) return <JsonField form={form} field={field} path={path} />;
  const { item } = field;
  const blank = item.kind === "choice" ? item.literals[0]! : '""';
  const name = visibleText(field.name);
  return (
    <fieldset className="data-group" ref={whole}>
      <legend>{labelOf(field)}</legend>
      <About field={field} error={form.errorAt(path)} />
      {Array.from({ length: count }, (_, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: an entry is known by its place, and keeps nothing of its own
        <div key={i} className="data-item">
          <ItemField
            form={form}
            shape={item}
            path={[...path, i]}
            label={`${name} ${i + 1}`}
            hint={null}
            empty="choose"
            onEmpty={() => edit(withLiteral(text, [...path, i], '""'))}
          />
          <Button
            aria-label={`Remove ${name} ${i + 1}`}
            onClick={() => {
              moved.current = "removed";
              edit(withoutValue(text, [...path, i]));
            }}
          >
            Remove
          </Button>
        </div>
      ))}
      <div className="data-add">
        <Button
          small
          onClick={() => {
            moved.current = "added";
            const isList = slice?.kind === "array";
            edit(isList ? withLiteral(text, [...path, count], blank) : withLiteral(text, path, `[${blank}]`));
          }}
        >
          Add to {name}
        </Button>
      </div>
    </fieldset>
  );
}

/** For values no other field can hold. Until it is JSON it is kept beside the text. */
function JsonField({ form, field, path }: FieldProps<DataField>) {
  const { text, edit, drafts, setDraft } = form.entry;
  const slice = sliceOf(text, path);
  const draft = drafts.get(placeOf(path));
  const value = draft ?? (slice === null ? "" : text.slice(slice.start, slice.end));
  const hint = hintOf(field);
  const type = (typed: string) => {
    const isEmpty = typed.trim() === "";
    setDraft(path, isEmpty || jsonMistake(typed) === null ? null : typed);
    if (isEmpty) edit(emptied(text, field, path));
    else if (jsonMistake(typed) === null) edit(withLiteral(text, path, typed));
  };
  return (
    <TextArea
      label={labelOf(field)}
      error={form.errorAt(path)}
      onLeave={() => form.leave(path)}
      {...(hint === null ? {} : { hint })}
      value={value}
      onChange={type}
      rows={3}
      mono
    />
  );
}
