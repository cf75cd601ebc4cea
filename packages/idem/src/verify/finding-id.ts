// A finding's name from one run to the next: its function, what is wrong, the effect and the text of its line. Neither the line's number nor the
// schedule that happened to show it is part of it, so the name stays when code above grows or other schedules are played. Pure.
import { createHash } from "node:crypto";
import type { Finding } from "./report.ts";

export interface Named {
  readonly env: string;
  /** The function's full name: two apps may have one of the same id. */
  readonly fn: string;
  /** A file as it is called in the project, wherever that lies. */
  readonly shorten: (file: string) => string;
  /** The text of a file; null where it cannot be read. */
  readonly readSource: (file: string) => string | null;
  /** A text without the values of the event: another event shows the same finding. */
  readonly hide: (text: string) => string;
}

/** 64 bits: of a hundred thousand findings, two share one with a chance below one in a thousand million. */
const hexChars = 16;

/** One for each, in their order; no two are the same. */
export function findingIds(findings: readonly Finding[], named: Named): string[] {
  const bases = findings.map((finding) => JSON.stringify(partsOf(finding, named)));
  return findings.map((finding, i) => {
    // Two lines of the same text about the same effect: told apart by their order in the file.
    const alike = findings.flatMap((other, j) => (bases[j] === bases[i] ? { other, j } : []));
    const place = alike
      .toSorted((a, b) => lineOf(a.other) - lineOf(b.other) || a.j - b.j)
      .findIndex(({ other }) => other === finding);
    return createHash("sha256").update(`${bases[i]} ${place}`).digest("hex").slice(0, hexChars);
  });
}

const lineOf = ({ place }: Finding): number => place?.line ?? 0;

function partsOf({ kind, effect, thing, place }: Finding, { env, fn, shorten, readSource, hide }: Named): unknown[] {
  // The count depends on how often it went wrong.
  const what = effect ?? thing.replace(/^(?:two|three|four|five|\d+) of /, "");
  const text = place === null ? null : (readSource(place.file)?.split("\n")[place.line - 1] ?? null);
  const line = text?.trim().replaceAll(/\s+/g, " ") ?? null;
  return [env, fn, kind, hide(what), place === null ? null : shorten(place.file), line];
}
