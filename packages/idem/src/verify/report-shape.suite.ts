// The output of `--reporter json`, key by key: nothing less, nothing more.
import { z } from "zod";

const wrong = z.enum(["DOUBLED", "LOST", "HALF", "DIVERGED", "UNPROVEN", "ACCEPTED"]);
const verdict = z.enum([...wrong.options, "HELD"]);
const count = z.int().min(0);
const line = z.int().min(1);

const place = z.strictObject({ file: z.string(), line }).nullable();
const kind = wrong.exclude(["ACCEPTED"]);

const finding = z.strictObject({
  id: z.string().regex(/^[0-9a-f]{16}$/),
  verdict: wrong,
  kind,
  isKnown: z.boolean(),
  thing: z.string().min(1),
  effect: z.string().nullable(),
  step: z.string().nullable(),
  place,
  schedule: z.string().min(1),
  event: z.strictObject({ name: z.string(), data: z.json() }).nullable(),
  timeline: z.array(z.strictObject({ at: count, text: z.string() })),
  mend: z
    .strictObject({
      text: z.string().min(1),
      edits: z.array(z.strictObject({ file: z.string(), line, before: z.string(), after: z.string() })),
    })
    .nullable(),
  because: z.string().nullable(),
  repeat: z.string().startsWith("idem verify "),
});

export const reportShape = z.strictObject({
  functions: z.array(
    z.strictObject({
      id: z.string().min(1),
      verdict,
      place,
      schedules: count,
      unplayed: count,
      effects: count,
      commits: count,
      tookMs: z.number().min(0),
      event: z.strictObject({ name: z.string(), from: z.string() }).nullable(),
      notes: z.array(z.string()),
      outdated: z.array(z.string()),
      findings: z.array(finding),
    }),
  ),
  leftOut: z.array(z.strictObject({ id: z.string(), why: z.string().min(1) })),
  summary: z.strictObject({
    verdicts: z.partialRecord(verdict, count),
    schedules: count,
    tookMs: z.number().min(0),
    problems: z.array(z.string()),
    baseline: z
      .strictObject({
        known: count,
        fresh: count,
        gone: z.array(
          z.strictObject({
            id: z.string(),
            function: z.string(),
            kind,
            what: z.string(),
            file: z.string().nullable(),
          }),
        ),
      })
      .nullable(),
  }),
});
