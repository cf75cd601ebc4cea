// GET /api/audit: what people did by hand, newest first, by who did what to which thing and when; as CSV for a spreadsheet.
import { z } from "zod";
import { csvOf } from "../../../model/csv.ts";
import { findAudit } from "../../../observe/find-audit.ts";
import type { AuditRow } from "../../../store/audit.ts";
import { apiRoute, RawAnswer } from "../../api/api-route.ts";
import { examinedMax, nextField, pageFields } from "../../api/paging.ts";
import { readInstant } from "../../read-input.ts";

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

const rowsDefault = 50;
// A spreadsheet wants all of it: some megabytes, and more than anybody reads.
const csvRowsMax = 10_000;

export const listAudit = apiRoute({
  method: "GET",
  path: "/api/audit",
  summary: "List what people did by hand, newest first; sign-ins are in the default environment's",
  tag: "audit",
  query: {
    ...pageFields,
    limit: z.coerce
      .number()
      .int()
      .min(1)
      .max(500)
      .optional()
      .describe(`How many at most; ${rowsDefault} unless told, ${csvRowsMax} of CSV`),
    action: z.string().min(1).max(100).optional().describe('Only this: "cancel-run"'),
    actor: z.string().min(1).max(1_024).optional().describe("Only by whoever the audit calls exactly so"),
    subject: z.string().min(1).max(4_096).optional().describe("Only to exactly this thing: a run's id, a function"),
    text: z.string().min(1).max(200).optional().describe("Only with these words in any of the four"),
    format: z
      .enum(["json", "csv"])
      .optional()
      .describe("CSV also where Accept asks for text/csv; its next is in X-Idem-Next"),
  },
  answer: z.object({ entries: z.array(auditItem), next: nextField }),
  handle: async ({ query, headers, engine, env, now }) => {
    const { limit, before, format, since, until, action, actor, subject, text } = query;
    const isCsv = format === "csv" || (format === undefined && /\btext\/csv\b/i.test(headers.accept ?? ""));
    const search = {
      limit: limit ?? (isCsv ? csvRowsMax : rowsDefault),
      ...(since === undefined ? {} : { since: readInstant("since", since, now) }),
      ...(until === undefined ? {} : { until: readInstant("until", until, now) }),
      ...(before === undefined ? {} : { before }),
      ...(action === undefined ? {} : { action }),
      ...(actor === undefined ? {} : { actor }),
      ...(subject === undefined ? {} : { subject }),
      ...(text === undefined ? {} : { text }),
    };
    const { rows, next } = await findAudit(engine.store.reads, env, search, isCsv ? csvRowsMax * 10 : examinedMax);
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
