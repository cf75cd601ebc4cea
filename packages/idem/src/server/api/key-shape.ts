// Claims as /api shows them: who has which key, until when, and how often it was asked for.
import { z } from "zod";
import { type Claim, eventScope, functionScope, isTaken, webhookScope } from "../../model/claim.ts";

export const keyItem = z.object({
  scope: z.string().describe("What the key is unique within: `event`, `webhook`, or `fn:<function>`"),
  key: z.string(),
  function: z.string().nullable().describe("Of a function's key"),
  holder: z.string().describe("Who took it: an event, a run, or a caller's token"),
  state: z.enum(["in-flight", "settled", "released"]),
  isTaken: z.boolean(),
  isHeld: z.boolean().describe("Kept past its window while its run is open"),
  generation: z.string(),
  takenAt: z.number().int(),
  windowEndsAt: z.number().int(),
  askedCount: z
    .number()
    .int()
    .describe(
      "The first time included: everything above 1 is a duplicate it answered. On PostgreSQL it may be one second behind",
    ),
  lastAskedAt: z.number().int(),
});
export type KeyItem = z.infer<typeof keyItem>;

const functionPrefix = functionScope("");

export const functionOfScope = (scope: string): string | null =>
  scope.startsWith(functionPrefix) ? scope.slice(functionPrefix.length) : null;

export const isEventScope = (scope: string): boolean => scope === eventScope || scope === webhookScope;

export const keyItemOf = (claim: Claim, now: number): KeyItem => ({
  scope: claim.scope,
  key: claim.key,
  function: functionOfScope(claim.scope),
  holder: claim.holder,
  state: claim.state,
  isTaken: isTaken(claim, now),
  isHeld: claim.held,
  generation: claim.generation,
  takenAt: claim.takenAt,
  windowEndsAt: claim.endsAt,
  askedCount: claim.asked,
  lastAskedAt: claim.lastAskedAt,
});
