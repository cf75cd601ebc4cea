// What people did, as the server tells it: narrowed there, so that a page holds what was asked for however much there is.
import { getJson, urlOf } from "../../api/client.ts";
import type { KeysetPage } from "../../parts/keyset-list.ts";

export interface AuditEntry {
  readonly id: string;
  readonly at: number;
  readonly actor: string;
  readonly action: string;
  readonly subject: string;
  readonly reason: string;
}

/** As the address has it; `q` are words in any part of an entry. */
export interface AuditFilter {
  readonly q?: string | undefined;
  readonly since?: string | undefined;
  readonly action?: string | undefined;
  readonly actor?: string | undefined;
  readonly subject?: string | undefined;
}

const paramsOf = ({ q, ...rest }: AuditFilter) => ({ ...rest, text: q });

const pageRows = 100;

export async function fetchEntries(
  filter: AuditFilter,
  before: string | undefined,
  signal?: AbortSignal,
): Promise<KeysetPage<AuditEntry>> {
  const asked = { ...paramsOf(filter), before, limit: pageRows };
  const answer = await getJson<{ entries: AuditEntry[]; next: string | null }>("api/audit", asked, signal);
  return { rows: answer.entries, next: answer.next };
}

/** Where a browser saves it from: everything the filter lets through. */
export const csvAddress = (filter: AuditFilter): string => urlOf("api/audit", { ...paramsOf(filter), format: "csv" });
