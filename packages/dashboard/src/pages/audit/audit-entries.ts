// The audit, as the server gives it: narrowed there, so that a page holds what was asked for however much there is.
import { type Answer, ask, downloadOf } from "../../api/client.ts";
import type { KeysetPage } from "../../parts/keyset-list.ts";

export type AuditEntry = Answer<"GET /api/audit">["entries"][number];

/** As the address has it; `q` are words in any part of an entry. */
export interface AuditFilter {
  readonly q?: string | undefined;
  readonly since?: string | undefined;
  readonly action?: string | undefined;
  readonly actor?: string | undefined;
  readonly subject?: string | undefined;
}

const queryOf = ({ q, ...rest }: AuditFilter) => ({ ...rest, text: q });

const pageRows = 100;

export async function fetchEntries(
  filter: AuditFilter,
  before: string | undefined,
  signal?: AbortSignal,
): Promise<KeysetPage<AuditEntry>> {
  const query = { ...queryOf(filter), before, limit: pageRows };
  const { entries, next } = await ask("GET /api/audit", { query, signal });
  return { rows: entries, next };
}

/** A browser saves it from here: everything the filter lets through. */
export const csvAddress = (filter: AuditFilter): string =>
  downloadOf("/api/audit", {}, { ...queryOf(filter), format: "csv" });
