// Reads a statement by its text: enough to name it for people and to know where a process may die. Its real effect is read from the rows. Pure.

export type StatementKind =
  /** Changes rows, or may. */
  | "write"
  | "read"
  | "begin"
  | "commit"
  | "rollback"
  /** Of the session, or a part of a transaction: nothing that outlives it. */
  | "session";

export interface StatementText {
  readonly kind: StatementKind;
  /** "INSERT". */
  readonly verb: string;
  /** The first table it writes to, as it is named there; null where none is. */
  readonly table: string | null;
}

const comments = /--[^\n]*|\/\*[\s\S]*?\*\//g;
const literals = /'(?:[^']|'')*'|\$([A-Za-z_]*)\$[\s\S]*?\$\1\$/g;

/** Without comments and the insides of strings, which may hold anything. */
const bare = (sql: string): string =>
  sql
    .replace(literals, (text) => (text.startsWith("'") ? "''" : "$$"))
    .replace(comments, " ")
    .trim();

const name = String.raw`(?:only\s+)?((?:"[^"]+"|\x60[^\x60]+\x60|\[[^\]]+\]|[\w$]+)(?:\s*\.\s*(?:"[^"]+"|\x60[^\x60]+\x60|\[[^\]]+\]|[\w$]+))?)`;
const writes: readonly (readonly [verb: string, pattern: RegExp])[] = [
  ["INSERT", new RegExp(String.raw`\binsert\s+(?:or\s+\w+\s+)?into\s+${name}`, "i")],
  ["INSERT", new RegExp(String.raw`\breplace\s+into\s+${name}`, "i")],
  ["UPDATE", new RegExp(String.raw`\bupdate\s+(?:or\s+\w+\s+)?${name}\s+(?:as\s+\w+\s+|\w+\s+)?set\b`, "i")],
  ["DELETE", new RegExp(String.raw`\bdelete\s+from\s+${name}`, "i")],
  ["MERGE", new RegExp(String.raw`\bmerge\s+into\s+${name}`, "i")],
  ["TRUNCATE", new RegExp(String.raw`\btruncate\s+(?:table\s+)?${name}`, "i")],
  ["COPY", new RegExp(String.raw`^copy\s+${name}[\s\S]*\bfrom\b`, "i")],
];

const session =
  /^(set|reset|show|listen|unlisten|discard|deallocate|prepare|savepoint|release|pragma|attach|detach|analyze|explain|lock|declare|fetch|move|close|checkpoint)\b/i;
const reads = /^(select|with|values|table)\b/i;
/** Functions of the server that change something which a rollback, or a reader, would see. */
const changing = /\b(setval|pg_notify|lo_\w+|dblink_exec)\s*\(/i;

export function readStatement(sql: string): StatementText {
  const text = bare(sql);
  const first = (/^[a-z]+/i.exec(text)?.[0] ?? "").toUpperCase();
  const plain = (kind: StatementKind): StatementText => ({ kind, verb: first, table: null });
  const isOne = !/;\s*\S/.test(text);
  if (isOne) {
    if (/^(begin|start\s+transaction)\b/i.test(text)) return plain("begin");
    if (/^(commit|end)\b/i.test(text)) return { kind: "commit", verb: "COMMIT", table: null };
    if (/^rollback\s+(?:work\s+|transaction\s+)?to\b/i.test(text)) return plain("session");
    if (/^(rollback|abort)\b/i.test(text)) return plain("rollback");
    if (session.test(text)) return plain("session");
  }
  for (const [verb, pattern] of writes) {
    const found = pattern.exec(text);
    if (found !== null) return { kind: "write", verb, table: tableName(found[1]!) };
  }
  if (text === "") return plain("session");
  if (isOne && reads.test(text) && !changing.test(text)) return plain("read");
  return plain("write");
}

/** Its own name, without its schema's and without quotes. */
const tableName = (written: string): string =>
  written
    .split(".")
    .at(-1)!
    .trim()
    .replace(/^["`[]|["`\]]$/g, "");
