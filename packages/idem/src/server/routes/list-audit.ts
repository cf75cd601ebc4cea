// GET /api/audit: what people did by hand, newest first; as CSV for a spreadsheet.
import { z } from "zod";
import type { AuditRow } from "../../store/audit.ts";
import { apiRoute, RawAnswer } from "../api/api-route.ts";
import { beforeField, limitField, nextField } from "../api/paging.ts";
import { csvOf } from "../csv.ts";

const auditItem = z.object({
  id: z.string(),
  at: z.number().int(),
  actor: z
    .string()
    .describe('Who: "operator session 3f9a1c", "signing key of staging", "cli on build-7"; "" when unknown'),
  action: z.string().describe('What they did: "release-key", "cancel-run", "sign-in"'),
  subject: z.string().describe("To which thing"),
  reason: z.string().describe("Why, where they said"),
});

export const listAudit = apiRoute({
  method: "GET",
  path: "/api/audit",
  summary: "List what people did by hand, newest first; sign-ins are in the default environment's",
  tag: "audit",
  query: {
    before: beforeField,
    limit: limitField,
    format: z
      .enum(["json", "csv"])
      .optional()
      .describe("CSV also where Accept asks for text/csv; its next is in X-Idem-Next"),
  },
  answer: z.object({ entries: z.array(auditItem), next: nextField }),
  handle: async ({ query, headers, engine, env }) => {
    const { limit, before, format } = query;
    const { rows, next } = await engine.store.reads.auditPage(env, {
      limit,
      ...(before === undefined ? {} : { before }),
    });
    const isCsv = format === "csv" || (format === undefined && /\btext\/csv\b/i.test(headers.accept ?? ""));
    return isCsv ? csvAnswer(rows, next) : { entries: rows.map((row) => ({ ...row })), next };
  },
});

const columns = ["time", "actor", "action", "subject", "reason"] as const;

function csvAnswer(rows: readonly AuditRow[], next: string | null): RawAnswer {
  const cells = rows.map(({ at, actor, action, subject, reason }) => [
    new Date(at).toISOString(),
    actor,
    action,
    subject,
    reason,
  ]);
  return new RawAnswer({
    status: 200,
    headers: {
      "content-type": "text/csv; charset=utf-8",
      "content-disposition": 'attachment; filename="idem-audit.csv"',
      ...(next === null ? {} : { "x-idem-next": encodeURIComponent(next) }),
    },
    body: csvOf([columns, ...cells]),
  });
}
