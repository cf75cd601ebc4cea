// Fields with their labels, and the bar of filters above a list.
import { type ReactNode, useEffect, useId, useRef, useState } from "react";
import { Icon } from "./icon.tsx";
import "./field.css";

interface FieldProps {
  readonly label: string;
  readonly hint?: ReactNode;
  /** Stands under the field, which is marked. */
  readonly error?: string | null;
  /** Somebody was in it and left. */
  readonly onLeave?: () => void;
}

interface TextProps extends FieldProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly focusFirst?: boolean;
}

function Labelled({
  label,
  hint,
  error,
  id,
  children,
}: FieldProps & { readonly id: string; readonly children: ReactNode }) {
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children}
      {error !== null && error !== undefined ? (
        <p className="failed hint" id={`${id}-hint`} role="alert">
          {error}
        </p>
      ) : (
        hint !== undefined && (
          <p className="hint" id={`${id}-hint`}>
            {hint}
          </p>
        )
      )}
    </div>
  );
}

const useFocusFirst = <E extends HTMLElement>(focusFirst: boolean | undefined) => {
  const ref = useRef<E>(null);
  useEffect(() => {
    if (focusFirst === true) ref.current?.focus();
  }, [focusFirst]);
  return ref;
};

export function TextField({
  value,
  onChange,
  focusFirst,
  type = "text",
  list,
  inputMode,
  ...field
}: TextProps & {
  readonly type?: "text" | "password";
  readonly list?: readonly string[];
  readonly inputMode?: "decimal" | "text";
}) {
  const id = useId();
  const ref = useFocusFirst<HTMLInputElement>(focusFirst);
  return (
    <Labelled {...field} id={id}>
      <input
        ref={ref}
        id={id}
        type={type}
        inputMode={inputMode}
        value={value}
        onChange={(event) => onChange(event.target.value)}
        onBlur={field.onLeave}
        aria-invalid={field.error != null}
        aria-describedby={`${id}-hint`}
        autoComplete={type === "password" ? "current-password" : "off"}
        spellCheck={false}
        list={list === undefined ? undefined : `${id}-list`}
      />
      {list !== undefined && (
        <datalist id={`${id}-list`}>
          {list.map((each) => (
            <option key={each} value={each} />
          ))}
        </datalist>
      )}
    </Labelled>
  );
}

export function TextArea({
  value,
  onChange,
  focusFirst,
  rows = 8,
  mono = false,
  ...field
}: TextProps & { readonly rows?: number; readonly mono?: boolean }) {
  const id = useId();
  const ref = useFocusFirst<HTMLTextAreaElement>(focusFirst);
  return (
    <Labelled {...field} id={id}>
      <textarea
        ref={ref}
        id={id}
        className={mono ? "mono" : ""}
        rows={rows}
        value={value}
        onChange={(event) => onChange(event.target.value)}
        onBlur={field.onLeave}
        aria-invalid={field.error != null}
        aria-describedby={`${id}-hint`}
        spellCheck={!mono}
      />
    </Labelled>
  );
}

export interface Choice<Value extends string = string> {
  readonly value: Value;
  readonly text: string;
}

export function SelectField<Value extends string>({
  value,
  onChange,
  choices,
  ...field
}: FieldProps & {
  readonly value: Value;
  readonly onChange: (value: Value) => void;
  readonly choices: readonly Choice<Value>[];
}) {
  const id = useId();
  return (
    <Labelled {...field} id={id}>
      <select
        id={id}
        value={value}
        onChange={(event) => onChange(event.target.value as Value)}
        onBlur={field.onLeave}
        aria-invalid={field.error != null}
        aria-describedby={`${id}-hint`}
      >
        {choices.map(({ value: each, text }) => (
          <option key={each} value={each}>
            {text}
          </option>
        ))}
      </select>
    </Labelled>
  );
}

// ------------------------------------------------------------------------------------------------ filters

export const Filters = ({ children }: { readonly children: ReactNode }) => (
  <search className="filters" aria-label="Filters">
    {children}
  </search>
);

/** `Function all ⌄`: a select in the words of a sentence. */
export function FilterSelect({
  label,
  value,
  onChange,
  choices,
}: {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly choices: readonly Choice[];
}) {
  const chosen = choices.find((each) => each.value === value)?.text ?? value;
  return (
    <label className={`filter${value === "" ? "" : " is-set"}`}>
      <span>{label}</span>
      <b className="cut">{chosen}</b>
      <Icon name="down" size={12} />
      <select aria-label={label} value={value} onChange={(event) => onChange(event.target.value)}>
        {choices.some((each) => each.value === value) ? null : <option value={value}>{value}</option>}
        {choices.map(({ value: each, text }) => (
          <option key={each} value={each}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

// Typing is not a question yet; a pause is.
const typingMs = 250;

/** Keeps what is typed to itself until the typing pauses. */
export function FilterText({
  label,
  value,
  onChange,
  fieldId,
  list,
}: {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly fieldId?: string;
  /** Suggested while typing. */
  readonly list?: readonly string[] | undefined;
}) {
  const listId = useId();
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
    if (typed === last.current) return;
    const timer = setTimeout(() => {
      last.current = typed;
      change.current(typed);
    }, typingMs);
    return () => clearTimeout(timer);
  }, [typed]);
  return (
    <label className="filter is-text">
      <Icon name="search" size={12} />
      <input
        id={fieldId}
        type="search"
        aria-label={label}
        placeholder={label}
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
        spellCheck={false}
        list={list === undefined ? undefined : listId}
      />
      {list !== undefined && (
        <datalist id={listId}>
          {list.map((each) => (
            <option key={each} value={each} />
          ))}
        </datalist>
      )}
    </label>
  );
}

/** A few choices, all in sight. */
export function Segments({
  label,
  value,
  onChange,
  choices,
}: {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly choices: readonly Choice[];
}) {
  return (
    <fieldset className="segments">
      <legend className="spoken">{label}</legend>
      <span className="label" aria-hidden="true">
        {label}
      </span>
      {choices.map((each) => (
        <button key={each.value} type="button" aria-pressed={each.value === value} onClick={() => onChange(each.value)}>
          {each.text}
        </button>
      ))}
    </fieldset>
  );
}
