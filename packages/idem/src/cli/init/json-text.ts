// Edits of JSON as text: what is added looks as what stands beside it, and everything else stays as it is, byte by byte. Comments and commas before a bracket are
// read (.oxlintrc.json may have them). Pure.

type Node =
  | { readonly kind: "object"; readonly start: number; readonly end: number; readonly members: readonly Member[] }
  | { readonly kind: "array"; readonly start: number; readonly end: number; readonly items: readonly Node[] }
  | { readonly kind: "value"; readonly start: number; readonly end: number };

interface Member {
  readonly key: string;
  /** Of the key's quote. */
  readonly start: number;
  readonly value: Node;
}

/** `end` is behind the last character. */
class Reader {
  private at = 0;

  constructor(private readonly text: string) {}

  document(): Node {
    this.at = this.text.startsWith("\uFEFF") ? 1 : 0;
    this.skip();
    const node = this.node();
    this.skip();
    if (this.at < this.text.length) throw this.strange();
    return node;
  }

  private strange(): Error {
    return new SyntaxError(`unexpected ${JSON.stringify(this.text.slice(this.at, this.at + 10))} at ${this.at}`);
  }

  private skip(): void {
    const blank = /(?:\s+|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/y;
    blank.lastIndex = this.at;
    blank.exec(this.text);
    this.at = blank.lastIndex;
  }

  private take(char: string): boolean {
    if (this.text[this.at] !== char) return false;
    this.at++;
    this.skip();
    return true;
  }

  private node(): Node {
    const start = this.at;
    if (this.text[start] === "{") {
      const members = this.listed("{", "}", () => {
        const keyStart = this.at;
        const key = this.token(/"(?:\\.|[^"\\\n])*"/y);
        this.skip();
        if (!this.take(":")) throw this.strange();
        return { key: JSON.parse(key) as string, start: keyStart, value: this.node() };
      });
      return { kind: "object", start, end: this.at, members };
    }
    if (this.text[start] === "[") {
      const items = this.listed("[", "]", () => this.node());
      return { kind: "array", start, end: this.at, items };
    }
    JSON.parse(this.token(/"(?:\\.|[^"\\\n])*"|-?\d[\d.eE+-]*|true|false|null/y));
    return { kind: "value", start, end: this.at };
  }

  private token(pattern: RegExp): string {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text)?.[0];
    if (found === undefined) throw this.strange();
    this.at += found.length;
    return found;
  }

  private listed<T>(open: string, close: string, read: () => T): T[] {
    this.take(open);
    const all: T[] = [];
    while (this.text[this.at] !== close) {
      all.push(read());
      this.skip();
      if (!this.take(",") && this.text[this.at] !== close) throw this.strange();
    }
    this.at++;
    return all;
  }
}

const spliced = (text: string, at: number, more: string): string => text.slice(0, at) + more + text.slice(at);

/** The white space that a line begins with; null where something else stands before `at` on it. */
function indentAt(text: string, at: number): string | null {
  const before = text.slice(text.lastIndexOf("\n", at - 1) + 1, at);
  return /^[ \t]*$/.test(before) ? before : null;
}

const eolOf = (text: string): string => (text.includes("\r\n") ? "\r\n" : "\n");

/** One level of it, as the document's first member has it; two spaces where it has none. */
function unitOf(text: string, root: Node): string {
  const first = root.kind === "object" ? root.members[0]?.start : undefined;
  const found = first === undefined ? null : indentAt(text, first);
  return found === null || found === "" ? "  " : found;
}

const lineIndent = (text: string, at: number): string =>
  /^[ \t]*/.exec(text.slice(text.lastIndexOf("\n", at - 1) + 1))![0];

function put(
  text: string,
  root: Node,
  holder: Exclude<Node, { kind: "value" }>,
  entry: string,
  before: number | null,
): string {
  const starts =
    holder.kind === "object" ? holder.members.map(({ start }) => start) : holder.items.map(({ start }) => start);
  const ends =
    holder.kind === "object" ? holder.members.map(({ value }) => value.end) : holder.items.map(({ end }) => end);
  const eol = eolOf(text);
  const first = starts[0];
  if (first === undefined) {
    const outer = lineIndent(text, holder.start);
    const inner = outer + unitOf(text, root);
    const rest = text.slice(holder.start + 1, holder.end - 1);
    const opened = `${eol}${inner}${indented(entry, inner, eol)}`;
    // A comment that stands in it stays.
    const close = rest.trim() === "" ? `${eol}${outer}` : rest;
    return text.slice(0, holder.start + 1) + opened + close + text.slice(holder.end - 1);
  }
  const indent = indentAt(text, first);
  const separator = indent === null ? ", " : `,${eol}${indent}`;
  const written = indent === null ? entry : indented(entry, indent, eol);
  return before === null
    ? spliced(text, ends.at(-1)!, `${separator}${written}`)
    : spliced(text, starts[before]!, `${written}${separator}`);
}

/** Its further lines, moved to where it stands. */
const indented = (entry: string, indent: string, eol: string): string => entry.split("\n").join(`${eol}${indent}`);

const isSorted = (keys: readonly string[]): boolean => keys.every((key, i) => i === 0 || keys[i - 1]! <= key);

/** The holder of this key of the document; it is made where it is not there. */
function holderIn(text: string, name: string, empty: "{}" | "[]"): { text: string; root: Node; holder: Node } {
  const root = new Reader(text).document();
  if (root.kind !== "object") throw new SyntaxError("it is no object");
  const holder = root.members.find(({ key }) => key === name)?.value;
  if (holder !== undefined) return { text, root, holder };
  const made = put(text, root, root, `${JSON.stringify(name)}: ${empty}`, null);
  return holderIn(made, name, empty);
}

/** With this member at the end of the object under `name`; as it is where the object has one of that key. */
export const withMember = (text: string, name: string, key: string, value: unknown): string =>
  withMemberAt(text, name, key, value, () => -1);

/** The same, before the first member with a later name, where they stand in the order of their names: as package managers write dependencies. */
export const withSortedMember = (text: string, name: string, key: string, value: unknown): string =>
  withMemberAt(text, name, key, value, (keys) => (isSorted(keys) ? keys.findIndex((each) => each > key) : -1));

function withMemberAt(
  text: string,
  name: string,
  key: string,
  value: unknown,
  placeIn: (keys: readonly string[]) => number,
): string {
  const known = memberOf(text, name, key);
  if (known !== null) return text;
  const { text: prepared, root, holder } = holderIn(text, name, "{}");
  if (holder.kind !== "object") throw new SyntaxError(`"${name}" is no object`);
  const behind = placeIn(holder.members.map((each) => each.key));
  const entry = `${JSON.stringify(key)}: ${JSON.stringify(value)}`;
  return put(prepared, root, holder, entry, behind === -1 ? null : behind);
}

/** With this text in the list under `name`. */
export function withItem(text: string, name: string, item: string): string {
  const { text: prepared, root, holder } = holderIn(text, name, "[]");
  if (holder.kind !== "array") throw new SyntaxError(`"${name}" is no list`);
  const has = holder.items.some(({ start, end }) => prepared.slice(start, end) === JSON.stringify(item));
  return has ? text : put(prepared, root, holder, JSON.stringify(item), null);
}

/** The text of a member's value; null where there is none. */
export function memberOf(text: string, name: string, key: string): string | null {
  const root = new Reader(text).document();
  const holder = root.kind === "object" ? root.members.find((each) => each.key === name)?.value : undefined;
  const value = holder?.kind === "object" ? holder.members.find((each) => each.key === key)?.value : undefined;
  return value === undefined ? null : text.slice(value.start, value.end);
}
