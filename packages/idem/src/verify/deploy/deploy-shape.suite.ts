// The output of `idem check-deploy --json`, key by key: nothing less, nothing more.
import { z } from "zod";

const count = z.int().min(0);
const counts = {
  open: count,
  checked: count,
  goesOn: count,
  again: count,
  dropped: count,
  stuck: count,
  unproven: count,
};

const finding = z.strictObject({
  kind: z.enum(["STUCK", "AGAIN", "DROPPED", "UNPROVEN", "NOTE"]),
  step: z.string().nullable(),
  asked: z.string().nullable(),
  why: z.string().min(1),
  key: z.strictObject({ before: z.string().startsWith("idem_"), now: z.string().startsWith("idem_") }).nullable(),
  place: z.strictObject({ file: z.string(), line: z.int().min(1) }).nullable(),
  runs: z.int().min(1),
  examples: z.array(z.string()).min(1),
});

const change = z.strictObject({
  what: z.string().min(1),
  before: z.string(),
  now: z.string(),
  becomes: z.string().min(1),
  waiting: count,
  until: count.nullable(),
  isRisk: z.boolean(),
});

export const deployShape = z.strictObject({
  store: z.string().min(1),
  functions: z.array(
    z.strictObject({
      id: z.string().min(1),
      fn: z.string().min(1),
      app: z.string().min(1),
      env: z.string().min(1),
      verdict: z.enum(["STUCK", "AGAIN", "DROPPED", "UNPROVEN", "GOES ON"]),
      runs: z.strictObject(counts),
      findings: z.array(finding),
      changes: z.array(change),
    }),
  ),
  others: z.strictObject({ apps: z.array(z.string()), open: count }),
  summary: z.strictObject({ ...counts, sample: z.int().min(1), tookMs: z.number().min(0) }),
});
