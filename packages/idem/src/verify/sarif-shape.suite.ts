// A SARIF 2.1.0 log of ours, property by property as the standard names and bounds them (sections 3.13 to 3.58): nothing less, nothing more.
import { z } from "zod";

const text = z.strictObject({ text: z.string().min(1) });
const level = z.enum(["none", "note", "warning", "error"]);
/** An array whose elements must differ (`uniqueItems`). */
const unique = <T extends z.ZodType>(of: T) =>
  z.array(of).refine((all) => new Set(all.map((each) => JSON.stringify(each))).size === all.length, "must be unique");
/** RFC 3986: relative, or with a scheme; nothing that must be escaped stands there as it is. */
const uri = z.string().regex(/^(?:[a-z][a-z0-9+.-]*:)?(?:[\w\-.~!$&'()*+,;=:@/]|%[0-9A-F]{2})+$/i);
const artifactLocation = z.strictObject({ uri, uriBaseId: z.string().optional() });
const positive = z.int().min(1);
const region = z.strictObject({
  startLine: positive,
  startColumn: positive,
  endLine: positive.optional(),
  endColumn: positive.optional(),
});
const notification = z.strictObject({ level, message: text });

const result = z.strictObject({
  ruleId: z.string().min(1),
  ruleIndex: z.int().min(0),
  kind: z.enum(["notApplicable", "pass", "fail", "review", "open", "informational"]),
  level,
  message: text,
  locations: z
    .array(
      z.strictObject({
        physicalLocation: z.strictObject({ artifactLocation, region }).optional(),
        logicalLocations: unique(
          z.strictObject({ name: z.string(), fullyQualifiedName: z.string(), kind: z.literal("function") }),
        ),
      }),
    )
    .length(1),
  // Names end with a version (3.27.17).
  partialFingerprints: z.record(z.string().regex(/^\w+\/v\d+$/), z.string().min(1)),
  baselineState: z.enum(["new", "unchanged", "updated", "absent"]).optional(),
  suppressions: unique(
    z.strictObject({
      kind: z.enum(["inSource", "external"]),
      status: z.enum(["accepted", "underReview", "rejected"]),
      justification: z.string(),
    }),
  ).optional(),
  fixes: unique(
    z.strictObject({
      description: text,
      artifactChanges: unique(
        z.strictObject({
          artifactLocation,
          replacements: z
            .array(z.strictObject({ deletedRegion: region, insertedContent: z.strictObject({ text: z.string() }) }))
            .min(1),
        }),
      ).min(1),
    }),
  ).optional(),
  properties: z.record(z.string(), z.string()),
});

const rule = z.strictObject({
  id: z.string().min(1),
  name: z.string().min(1),
  shortDescription: text,
  fullDescription: text,
  help: text,
  defaultConfiguration: z.strictObject({ level }),
});

const run = z
  .strictObject({
    tool: z.strictObject({
      driver: z.strictObject({
        name: z.string().min(1),
        semanticVersion: z.string().regex(/^\d+\.\d+\.\d+(-[\w.]+)?$/),
        rules: unique(rule),
      }),
    }),
    automationDetails: z.strictObject({ id: z.string().min(1) }),
    columnKind: z.enum(["utf16CodeUnits", "unicodeCodePoints"]),
    invocations: z
      .array(
        z.strictObject({
          executionSuccessful: z.boolean(),
          exitCode: z.int(),
          toolExecutionNotifications: z.array(notification).optional(),
        }),
      )
      .length(1),
    results: z.array(result),
  })
  .refine(
    ({ tool, results }) => results.every(({ ruleId, ruleIndex }) => tool.driver.rules[ruleIndex]?.id === ruleId),
    "ruleIndex must lead to the rule of ruleId",
  )
  // A level is for what fails (3.27.10).
  .refine(({ results }) => results.every(({ kind, level }) => kind === "fail" || level === "none"));

export const sarifShape = z.strictObject({
  $schema: z.literal("https://json.schemastore.org/sarif-2.1.0.json"),
  version: z.literal("2.1.0"),
  runs: z.array(run).min(1),
});
