// Verdicts of `idem verify` as they are published over /api, and as it shows them.
import { z } from "zod";
import { findingKinds, verdicts } from "../../model/verdict.ts";
import { findingsKeptMax, type PublishedVerdict, verifiedCode } from "../../observe/published-verdicts.ts";

// Names and paths of the user's own: nobody's are longer.
const name = z.string().min(1).max(512);
const count = z.number().int().min(0).max(1_000_000_000);

const place = z
  .strictObject({ file: name, line: z.number().int().min(1).max(100_000_000) })
  .describe("From the folder the command was given in");

const said = {
  verdict: z.enum(verdicts).describe("UNPROVEN is no success, and neither is the absence of a verdict"),
  schedules: count.describe("How many were played in which all of it happened"),
  effects: count.describe("Of one clean run"),
  findingCount: count,
  findings: z
    .array(
      z.strictObject({
        id: name.describe("The same from one run to the next while the line's text is"),
        kind: z.enum(findingKinds),
        isAccepted: z.boolean(),
        place: place.nullable(),
        schedule: name.describe("What `--schedule` is told to repeat it"),
      }),
    )
    .max(findingsKeptMax)
    .describe(`Of all that were found, the first ${findingsKeptMax}`),
  place: place.nullable().describe("Where the function is defined"),
  code: z
    .string()
    .min(1)
    .max(64)
    .nullable()
    .describe("The fingerprint of the code that was played; null where nobody can tell"),
  at: z.number().int().min(0).describe("When it was verified"),
};

export const givenVerdict = z.strictObject({ function: name.describe("`<app>-<id>`"), ...said });

export const verdictItem = z.object({
  ...said,
  by: z.string().describe("Who published it"),
  codeSince: z
    .enum(["same", "changed", "unknown"])
    .describe("Whether the code that is registered now is the one that was played"),
});

export const verdictItemOf = (
  { function: _, findings, ...verdict }: PublishedVerdict,
  registered: string | undefined,
): z.input<typeof verdictItem> => ({
  ...verdict,
  findings: findings.map((each) => ({ ...each })),
  codeSince: verifiedCode(verdict, registered),
});
