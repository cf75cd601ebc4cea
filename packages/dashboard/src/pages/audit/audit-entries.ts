// What people did, as the server tells it, and the filter over it. The server pages by time only; words are looked for here, in as
// many pages as it takes to fill one.
import { getJson } from "../../api/client.ts";
import type { KeysetPage } from "../../parts/keyset-list.ts";

export interface AuditEntry {
  readonly id: string;
  readonly at: number;
  readonly actor: string;
  readonly action: string;
  readonly subject: string;
  readonly reason: string;
}

export interface AuditFilter {
  readonly q?: string | undefined;
  readonly since?: string | undefined;
}

const pageRows = 100;
const searchedRows = 500;
// Some seconds of looking at most; "Show older ones" goes on from there.
const searchedPagesMax = 10;

export async function fetchEntries(
  filter: AuditFilter,
  before: string | undefined,
  signal?: AbortSignal,
): Promise<KeysetPage<AuditEntry>> {
  const from = sinceOf(filter.since, Date.now());
  const limit = filter.q === undefined ? pageRows : searchedRows;
  const rows: AuditEntry[] = [];
  let next = before;
  for (let page = 0; page < searchedPagesMax; page++) {
    const answer: { entries: AuditEntry[]; next: string | null } = await getJson(
      "api/audit",
      { before: next, limit },
      signal,
    );
    rows.push(...answer.entries.filter((entry) => entry.at >= from && isAbout(entry, filter.q)));
    const oldest = answer.entries.at(-1);
    if (answer.next === null || (oldest !== undefined && oldest.at < from)) return { rows, next: null };
    next = answer.next;
    if (rows.length >= pageRows) break;
  }
  return { rows, next: next ?? null };
}

const unitMs: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** "7d" or an instant, as every page's address has it. */
export function sinceOf(text: string | undefined, now: number): number {
  if (text === undefined) return 0;
  const [, count, unit] = /^(\d+)([mhd])$/.exec(text) ?? [];
  if (count !== undefined) return now - Number(count) * unitMs[unit!]!;
  const at = Date.parse(text);
  return Number.isNaN(at) ? 0 : at;
}

function isAbout({ actor, action, subject, reason }: AuditEntry, q: string | undefined): boolean {
  if (q === undefined) return true;
  const wanted = q.toLowerCase();
  return [actor, action, subject, reason].some((text) => text.toLowerCase().includes(wanted));
}

// More rows than a spreadsheet is read for; the API has the rest.
const csvRowsMax = 10_000;

/** Everything the filter lets through, newest first. */
export async function entriesAsCsv(filter: AuditFilter): Promise<string> {
  const lines = [["time", "who", "action", "thing", "reason"]];
  let before: string | undefined;
  do {
    const { rows, next } = await fetchEntries(filter, before);
    for (const { at, actor, action, subject, reason } of rows)
      lines.push([new Date(at).toISOString(), actor, action, subject, reason]);
    before = next ?? undefined;
  } while (before !== undefined && lines.length < csvRowsMax);
  return lines.map((line) => `${line.map(csvCell).join(",")}\r\n`).join("");
}

/** RFC 4180; a cell that a spreadsheet would take for a formula begins with an apostrophe. */
function csvCell(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
