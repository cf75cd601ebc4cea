// Entries of the audit, found by words as well. The store finds who, what and which thing through its indexes; words inside of them no index
// finds, so a bounded number of entries is looked at, and the page says where it stopped.
import type { AuditFilter, AuditRow } from "../store/audit.ts";
import type { Page, StoreReads } from "../store/reads.ts";

export interface AuditSearch extends AuditFilter {
  /** Somewhere in who, what, which thing or why, however it is written. */
  readonly text?: string;
}

// Rows of one read of the store.
const pageRows = 500;

export async function findAudit(
  reads: Pick<StoreReads, "auditPage">,
  env: string,
  { text, limit, before: from, ...filter }: AuditSearch,
  examinedMax: number,
): Promise<Page<AuditRow, string>> {
  const wanted = text?.toLowerCase();
  const rows: AuditRow[] = [];
  let before = from;
  for (let examined = 0; examined < examinedMax; ) {
    const asked = wanted === undefined ? Math.min(limit - rows.length, pageRows) : pageRows;
    const page = await reads.auditPage(env, { ...filter, limit: asked, ...(before === undefined ? {} : { before }) });
    for (const row of page.rows) {
      if (wanted !== undefined && !isAbout(row, wanted)) continue;
      rows.push(row);
      if (rows.length === limit) return { rows, next: row === page.rows.at(-1) ? page.next : row.id };
    }
    if (page.next === null) return { rows, next: null };
    examined += page.rows.length;
    before = page.next;
  }
  return { rows, next: before ?? null };
}

const isAbout = ({ actor, action, subject, reason }: AuditRow, wanted: string): boolean =>
  [actor, action, subject, reason].some((part) => part.toLowerCase().includes(wanted));
