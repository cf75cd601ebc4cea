// Edits of the user's source that are certain: where the text is not exactly as expected there is none, and words must do. Pure.
import { destinationAt } from "../../dedup/destination-hosts.ts";
import type { KnownHost } from "../destination-model.ts";
import type { Edit } from "../report.ts";
import type { SeenEffect } from "../thing.ts";
import { hostOf } from "./propose.ts";

type ReadSource = (file: string) => string | null;

/** A change within one line, by offsets into the whole text. */
interface Patch {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");

/** Offsets at which lines begin. */
function startsOf(source: string): number[] {
  const starts = [0];
  for (let i = 0; i < source.length; i++) if (source[i] === "\n") starts.push(i + 1);
  return starts;
}

const lineAt = (starts: readonly number[], offset: number): number =>
  starts.findLastIndex((start) => start <= offset) + 1;

function editsOf(file: string, source: string, patches: readonly Patch[]): Edit[] {
  const starts = startsOf(source);
  const lines = source.split("\n");
  const byLine = new Map<number, Patch[]>();
  for (const patch of patches) {
    const line = lineAt(starts, patch.start);
    byLine.set(line, [...(byLine.get(line) ?? []), patch]);
  }
  return [...byLine]
    .sort(([a], [b]) => a - b)
    .map(([line, some]) => {
      const before = lines[line - 1]!;
      const from = starts[line - 1]!;
      const after = some
        .sort((a, b) => b.start - a.start)
        .reduce(
          (text, { start, end, text: put }) => text.slice(0, start - from) + put + text.slice(end - from),
          before,
        );
      return { file, line, before, after };
    });
}

/** The arguments of the call whose parenthesis opens at `open`, as ranges; null where the text cannot be followed. */
function argumentsAt(
  source: string,
  open: number,
): { readonly args: readonly [number, number][]; readonly close: number } | null {
  const args: [number, number][] = [];
  let depth = 0;
  let from = open + 1;
  for (let i = open; i < source.length; i++) {
    const char = source[i]!;
    if (char === '"' || char === "'" || char === "`") {
      const end = stringEnd(source, i);
      if (end === null) return null;
      i = end;
    } else if (char === "/" && (source[i + 1] === "/" || source[i + 1] === "*")) {
      const end = source[i + 1] === "/" ? source.indexOf("\n", i) : source.indexOf("*/", i) + 1;
      if (end <= 0) return null;
      i = end;
    } else if ("([{".includes(char)) depth++;
    else if (")]}".includes(char)) {
      depth--;
      if (depth > 0) continue;
      if (source.slice(from, i).trim() !== "") args.push([from, i]);
      return { args, close: i };
    } else if (char === "," && depth === 1) {
      args.push([from, i]);
      from = i + 1;
    }
  }
  return null;
}

/** Where a string or template ends; templates may hold code, with templates in it. */
function stringEnd(source: string, open: number): number | null {
  const quote = source[open]!;
  for (let i = open + 1; i < source.length; i++) {
    if (source[i] === "\\") i++;
    else if (source[i] === quote) return i;
    else if (quote === "`" && source[i] === "$" && source[i + 1] === "{") {
      const inner = argumentsAt(source, i + 1);
      if (inner === null) return null;
      i = inner.close;
    }
  }
  return null;
}

/** Where the callback of this step takes its context, and what its key is called there; null where that is not plain. */
function keyOfStep(
  source: string,
  step: string,
  before: number,
): { readonly name: string; readonly patch: Patch | null } | null {
  const head = new RegExp(
    `step\\.run\\(\\s*(["'\`])${escaped(step)}\\1\\s*,\\s*(?:async\\s*)?\\(([^()]*)\\)\\s*=>`,
    "g",
  );
  const found = [...source.slice(0, before).matchAll(head)].at(-1);
  if (found === undefined) return null;
  const between = source.slice(found.index + found[0].length, before);
  if (/\b(const|let|var|function)\s+key\b/.test(between)) return null;
  const params = found[2]!;
  const at = found.index + found[0].lastIndexOf(`(${params})`) + 1;
  if (params.trim() === "") return { name: "key", patch: { start: at, end: at + params.length, text: "{ key }" } };
  if (/^\s*\{[^:={}]*\bkey\b[^:={}]*\}\s*$/.test(params)) return { name: "key", patch: null };
  const word = /^\s*([A-Za-z_$][\w$]*)\s*$/.exec(params)?.[1];
  return word === undefined ? null : { name: `${word}.key`, patch: null };
}

/** The call is given the step's key: a header of `fetch`, an option of the providers' own packages. */
export function stepKeyEdits(effect: SeenEffect, known: KnownHost | null, readSource: ReadSource): Edit[] {
  const { place, step } = effect;
  const source = place === null || step === null ? null : readSource(place.file);
  if (source === null) return [];
  const offset = (startsOf(source)[place!.line - 1] ?? 0) + place!.column - 1;
  const callee = /^[\w$.]+\s*(?=\()/.exec(source.slice(offset))?.[0];
  if (callee === undefined || !fitsAsItIs(effect)) return [];
  const call = argumentsAt(source, offset + callee.length);
  const key = keyOfStep(source, step!, offset);
  if (call === null || key === null) return [];
  const patch =
    callee.trim() === "fetch"
      ? fetchPatch(source, call.args, known?.place?.name ?? "Idempotency-Key", key.name)
      : packagePatch(source, offset, call, known, key.name);
  if (patch === null) return [];
  return editsOf(place!.file, source, key.patch === null ? [patch] : [patch, key.patch]);
}

/** The step's key can be handed over unchanged, in a header. */
function fitsAsItIs({ title }: SeenEffect): boolean {
  const known = destinationAt(hostOf(title));
  if (known === null) return true;
  const sample = `idem_${"A-_0".repeat(10)}`;
  return known.place !== null && known.place.kind === "header" && known.key(sample) === sample;
}

function fetchPatch(
  source: string,
  args: readonly (readonly [number, number])[],
  header: string,
  key: string,
): Patch | null {
  const [, options] = args;
  if (options === undefined) return null;
  const open = options[0] + source.slice(...options).search(/\S/);
  if (source[open] !== "{") return null;
  const fields = argumentsAt(source, open);
  if (fields === null) return null;
  const given = fields.args.find(([start, end]) => /^\s*headers\s*:/.test(source.slice(start, end)));
  if (given === undefined) {
    const [first] = fields.args;
    // A spread may bring headers of its own.
    if (
      first === undefined ||
      fields.args.some(([start, end]) => /^\s*(\.\.\.|headers\b)/.test(source.slice(start, end)))
    )
      return null;
    const at = first[0] + source.slice(...first).search(/\S/);
    return { start: at, end: at, text: `headers: { ${JSON.stringify(header)}: ${key} }, ` };
  }
  const inner = given[0] + source.slice(...given).search(/:\s*\{/);
  if (inner < given[0]) return null;
  const brace = source.indexOf("{", inner);
  const headers = argumentsAt(source, brace);
  if (headers === null || headers.close >= given[1]) return null;
  const name = new RegExp(`^\\s*(["'])${escaped(header)}\\1\\s*:\\s*`, "i");
  const old = headers.args.find(([start, end]) => name.test(source.slice(start, end)));
  if (old === undefined) return { start: brace + 1, end: brace + 1, text: ` ${JSON.stringify(header)}: ${key},` };
  const text = source.slice(...old);
  if (text.includes("\n")) return null;
  const start = old[0] + name.exec(text)![0].length;
  return { start, end: old[0] + text.trimEnd().length, text: key };
}

/** `stripe.invoices.create({ … })` and `resend.emails.send({ … })` take it as an option after their parameters. */
function packagePatch(
  source: string,
  offset: number,
  { args, close }: { readonly args: readonly (readonly [number, number])[]; readonly close: number },
  known: KnownHost | null,
  key: string,
): Patch | null {
  if (known === null || !["stripe", "resend"].includes(known.name) || args.length !== 1) return null;
  const whole = /[\w$.]*$/.exec(source.slice(0, offset))![0] + /^[\w$.]+/.exec(source.slice(offset))![0];
  if (!new RegExp(`${known.name}[\\w$]*\\.[\\w$.]+\\.(create|send)$`, "i").test(whole)) return null;
  const end = args[0]![0] + source.slice(...args[0]!).trimEnd().length;
  return source.slice(end, close).includes("\n")
    ? null
    : { start: end, end: close, text: `, { idempotencyKey: ${key} }` };
}

/** The function's options, where its id stands in exactly one line. */
export function functionKeyEdits(
  id: string,
  expression: string,
  {
    modules,
    effect,
    readSource,
  }: { readonly modules: readonly string[]; readonly effect: SeenEffect | null; readonly readSource: ReadSource },
): Edit[] {
  const files = new Set([...modules, ...(effect?.place === null || effect === null ? [] : [effect.place.file])]);
  const ids = new RegExp(`\\bid\\s*:\\s*(["'\`])${escaped(id)}\\1`, "g");
  const found = [...files].flatMap((file) => {
    const source = readSource(file) ?? "";
    return [...source.matchAll(ids)].map((match) => ({ file, source, match }));
  });
  const [one] = found;
  if (one === undefined || found.length > 1) return [];
  const { file, source, match } = one;
  const open = source.lastIndexOf("{", match.index);
  const options = argumentsAt(source, open);
  if (options === null || source.slice(open + 1, match.index).includes("}")) return [];
  const old = options.args.find(([start, end]) => /^\s*idempotency\b/.test(source.slice(start, end)));
  if (old === undefined) {
    const at = match.index + match[0].length;
    return editsOf(file, source, [{ start: at, end: at, text: `, idempotency: ${JSON.stringify(expression)}` }]);
  }
  const literal = /^(\s*idempotency\s*:\s*)(["'])[^"'\n]*\2\s*$/.exec(source.slice(...old));
  if (literal === null) return [];
  const start = old[0] + literal[1]!.length;
  const end = old[0] + literal[0].trimEnd().length;
  return editsOf(file, source, [{ start, end, text: JSON.stringify(expression) }]);
}
