// The Idempotency-Key header: a structured-field String by draft -07, and a bare value by nearly every client there is.
// Both spell the same key: read strictly, the installed base would be refused; with its quotes kept, `"k"` and `k` would be two keys.
// A value that cannot be one key for sure is refused, never guessed at.

export interface KeyHeaderRules {
  readonly minLength?: number;
  readonly pattern?: RegExp;
}

export type KeyHeader =
  | { readonly kind: "absent" }
  | { readonly kind: "key"; readonly key: string }
  /** `why` never repeats the value. */
  | { readonly kind: "invalid"; readonly why: string };

const keyLengthMax = 255;
// Every character escaped, and parameters behind it; a longer header is not looked at.
const headerLengthMax = 2_048;

// Each character belongs to one alternative only, so a long header cannot make the match go back and forth.
const parameter =
  / *; *[a-z*][a-z0-9_.*-]*(?:=(?:"(?:[^"\\]|\\["\\])*"|\?[01]|@?-?\d+(?:\.\d+)?|:[A-Za-z0-9+/=]*:|[A-Za-z*][\w!#$%&'*+.^`|~:/-]*))?/;
const parameters = new RegExp(`^(?:${parameter.source})* *$`);

/** `value` as the Fetch `Headers` give it: several lines come joined by a comma, which no single key is. */
export function readKeyHeader(value: string | null, rules: KeyHeaderRules = {}): KeyHeader {
  if (value === null) return { kind: "absent" };
  if (value.length > headerLengthMax) return invalid(`it is longer than ${keyLengthMax} characters`);
  if (!/^[\x20-\x7e]*$/.test(value)) return invalid("it has characters other than printable ASCII");
  const read = value.startsWith('"') ? readQuoted(value) : readBare(value);
  if (read.kind !== "key") return read;
  const { key } = read;
  if (key.length === 0) return invalid("it is empty");
  if (key.length > keyLengthMax) return invalid(`it is longer than ${keyLengthMax} characters`);
  if (key.length < (rules.minLength ?? 1)) return invalid(`it is shorter than ${rules.minLength} characters`);
  if (rules.pattern !== undefined && !matches(rules.pattern, key))
    return invalid("it does not have the form asked for");
  return read;
}

function readQuoted(value: string): KeyHeader {
  let key = "";
  for (let at = 1; at < value.length; at++) {
    const char = value[at]!;
    if (char === '"') {
      if (!parameters.test(value.slice(at + 1))) return invalid("something other than parameters follows its quotes");
      return { kind: "key", key };
    }
    if (char === "\\") {
      const escaped = value[++at];
      if (escaped !== '"' && escaped !== "\\") return invalid("a backslash in it escapes nothing");
      key += escaped;
    } else key += char;
  }
  return invalid("its quotes do not end");
}

function readBare(value: string): KeyHeader {
  if (/[, "\\]/.test(value)) {
    return invalid("a key without quotes has no comma, space, quote or backslash, and one request has one key");
  }
  return { kind: "key", key: value };
}

/** A pattern with the flag g or y remembers where it was; a key's form does not depend on the key before. */
function matches(pattern: RegExp, key: string): boolean {
  pattern.lastIndex = 0;
  return pattern.test(key);
}

const invalid = (why: string): KeyHeader => ({ kind: "invalid", why });
