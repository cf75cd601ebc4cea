// Fields that the user's code read of answers and that nobody gave: neither a fixture nor a recording, nor did the code itself send them there. Pure.
import type { AbsentField, Place } from "./thing.ts";

/** Fields that report a failure or a further page: where they are absent, all is well. */
const saysAllIsWell =
  /^(err(or)?s?([_A-Z]\w*)?|faults?|failures?|failed|deleted|warnings?|unprocessed\w*|has_?more|next([_A-Z]\w*)?|cursor)$/i;

/** After the name: a default, a look further in only where there is something, a comparison with nothing. */
const handledAfter = [
  /^\s*(\?\?|\|\||\?\.)/,
  /^\s*=(?![=>])/,
  /^\s*:\s*[\w$]+\s*=(?![=>])/,
  /^\s*as\s[^)]*\)\s*(\?\?|\|\||\?\.)/,
  /^\s*[!=]==?\s*(undefined|null|void 0)\b/,
];
/** Before the holder of the name. */
const handledBefore = [/\btypeof\s+[\w$.?![\]()]*$/, /\b(undefined|null|void 0)\s*[!=]==?\s*[\w$.?![\]()]*$/];

const isHandled = (before: string, after: string): boolean =>
  handledAfter.some((each) => each.test(after)) || handledBefore.some((each) => each.test(before));

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/**
 * Whether the code goes on with what it read there, instead of only asking whether it is there. `lines` are the source's; what cannot be found in them by its
 * name was read by code that does not know it (a loop over names), and says nothing.
 */
export function usesField(lines: readonly string[], { line, column }: Place, name: string): boolean {
  if (saysAllIsWell.test(name)) return false;
  const text = lines[line - 1] ?? "";
  // An operator may stand at the beginning of the next line.
  const rest = `${text}\n${lines[line] ?? ""}`;
  const word = new RegExp(`(?<![\\w$])${escaped(name)}(?![\\w$])`, "g");
  // Of a holder, in a pattern or in brackets; a variable of the same name is another thing.
  const found = [...text.matchAll(word)]
    .map(({ index }) => index)
    .filter((at) => /([.[{,"'`]|^)\s*$/.test(text.slice(0, at)));
  const exact = found.find((at) => Math.abs(at - (column - 1)) <= 1);
  const asked = exact === undefined ? found : [exact];
  return asked.length > 0 && asked.every((at) => !isHandled(text.slice(0, at), rest.slice(at + name.length)));
}

const sameAnswer = (one: AbsentField, other: AbsentField): boolean =>
  one.method === other.method && one.host === other.host && one.path === other.path;

const namesOf = (fields: readonly AbsentField[]): string[] => [...new Set(fields.map(({ field }) => field))];

/** As a list of a function's: "find" of an answer is no field that somebody forgot. */
const isOfList = ({ field }: AbsentField): boolean => field in Array.prototype;

/** A sentence for each answer, with what to write down. */
export function tellAbsent(
  fields: readonly AbsentField[],
): { readonly thing: string; readonly place: AbsentField["place"] }[] {
  const firsts = fields.filter((field, i) => fields.findIndex((each) => sameAnswer(each, field)) === i);
  return firsts.map((first) => {
    const all = fields.filter((each) => sameAnswer(each, first));
    const { method, host, path, place } = first;
    const isList = all.some(isOfList);
    const names = namesOf(all);
    const what = isList ? "is read as a list" : `is read for ${names.map((name) => `\`${name}\``).join(", ")}`;
    const tops = [...new Set(names.map((name) => name.split(/[.[]/)[0]!))];
    const body = isList ? "[ … ]" : `{ ${tops.map((name) => `${name}: …`).join(", ")} }`;
    const fixture = `{ method: "${method}", host: "${host}", path: "${path}", body: ${body} }`;
    return {
      thing: `the answer of ${method} ${host}${path} ${what}, which nobody gave: write it down among the fixtures of idem.verify.ts, ${fixture}`,
      place,
    };
  });
}
