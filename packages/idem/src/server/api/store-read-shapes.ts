// The reads of the store that a command line elsewhere may ask for: the store's own (store/reads.ts), each bounded. Those that hold secrets
// (settings other than those named here), name other environments, or are only for the engine are not among them.
import { z } from "zod";
import { eventIdScopes } from "../../model/claim.ts";
import { decisionKinds, eventOutcomes } from "../../model/decision.ts";
import { runStates } from "../../model/run.ts";
import { verdictKind } from "../../observe/published-verdicts.ts";
import { channelKind } from "../../radar/channels.ts";
import { alertStates } from "../../store/alerts.ts";
import { searchKind } from "../../store/event-values.ts";
import type { StoreReads } from "../../store/reads.ts";
import { limitKind } from "../../store/settings.ts";
import { decidedExaminedMax, examinedMax } from "./paging.ts";
import { payloadRowsMax } from "./store-read-bounds.ts";

const rowsMax = 1_000;
const bytesMax = 4 * 1024 * 1024;

const text = z.string().max(4_096);
const instant = z.number().int().min(0);
const rows = z.number().int().min(1).max(rowsMax);
const payloads = z.number().int().min(1).max(payloadRowsMax);
const ids = z.array(text).max(rowsMax);
// A page that looked at as many as one may is short, and says where to continue.
const page = {
  since: instant.optional(),
  until: instant.optional(),
  limit: rows,
  examinedMax: z
    .number()
    .int()
    .min(1)
    .transform((requested) => Math.min(requested, examinedMax)),
};
const state = z.enum(runStates).optional();
const part = text.optional();

/** Their inputs after the environment, which is the caller's. */
export const storeReadInputs = {
  now: z.tuple([]),
  functions: z.tuple([]),
  run: z.tuple([text]),
  runs: z.tuple([z.strictObject({ fn: part, state, eventId: part, before: part, limit: payloads })]),
  runPage: z.tuple([
    z.strictObject({
      ...page,
      fn: part,
      state,
      isOpen: z.literal(true).optional(),
      eventId: part,
      key: part,
      endedSince: instant.optional(),
      endedUntil: instant.optional(),
      before: part,
    }),
  ]),
  runMemo: z.tuple([text]),
  metadata: z.tuple([text]),
  runLog: z.tuple([text]),
  runPayloads: z.tuple([ids, z.number().int().min(0).max(bytesMax)]),
  runStarts: z.tuple([z.array(z.strictObject({ id: text, eventId: text, fn: text })).max(rowsMax)]),
  groupRuns: z.tuple([ids, rows]),
  lastFailures: z.tuple([ids]),
  lastOutcomes: z.tuple([ids]),
  stepInputs: z.tuple([text, z.number().int().min(0).max(bytesMax)]),
  event: z.tuple([text]),
  eventByCallerId: z.union([z.tuple([text]), z.tuple([text, z.enum(eventIdScopes)])]),
  events: z.tuple([z.strictObject({ name: part, before: part, limit: payloads })]),
  eventPage: z.tuple([
    z
      .strictObject({ ...page, name: part, fn: part, outcome: z.enum(eventOutcomes).optional(), before: part })
      .transform((filter) =>
        filter.fn === undefined && filter.outcome === undefined
          ? filter
          : { ...filter, examinedMax: Math.min(filter.examinedMax, decidedExaminedMax) },
      ),
  ]),
  duplicatesOf: z.tuple([text, rows]),
  decisionsOfEvent: z.tuple([text]),
  decisionsOfEvents: z.tuple([ids]),
  duplicatesOfRun: z.union([z.tuple([text, rows]), z.tuple([text, rows, text])]),
  decisionPage: z.tuple([
    z.strictObject({
      ...page,
      fn: part,
      kinds: z.array(z.enum(decisionKinds)).max(decisionKinds.length).optional(),
      isPending: z.literal(true).optional(),
      oldestFirst: z.literal(true).optional(),
      before: z.strictObject({ eventId: text, fn: text }).optional(),
    }),
  ]),
  claim: z.tuple([text, text]),
  claimNow: z.tuple([text, text]),
  claims: z.tuple([
    z.strictObject({
      scope: part,
      under: part,
      after: z.strictObject({ scope: text, key: text }).optional(),
      limit: rows,
    }),
  ]),
  crons: z.tuple([]),
  limitUses: z.tuple([rows]),
  buffer: z.tuple([text, z.enum(["debounce", "batch"]), text]),
  pendingCounts: z.tuple([]),
  counts: z.tuple([]),
  settings: z.tuple([z.enum([verdictKind, channelKind, searchKind, limitKind])]),
  auditPage: z.tuple([
    z.strictObject({
      limit: rows,
      before: part,
      action: part,
      actor: part,
      subject: part,
      since: instant.optional(),
      until: instant.optional(),
    }),
  ]),
  alerts: z.tuple([z.strictObject({ state: z.enum(alertStates).optional(), fn: part, before: part, limit: rows })]),
  alert: z.tuple([text]),
  alertPairs: z.tuple([text, z.strictObject({ before: part, limit: rows })]),
  radarPosition: z.tuple([]),
  arrivals: z.tuple([z.strictObject({ after: text, before: text, limit: z.number().int().min(1).max(200) })]),
  workers: z.tuple([]),
} as const satisfies Partial<Record<keyof StoreReads, z.ZodType>>;

export type StoreRead = keyof typeof storeReadInputs;
export const storeReadNames = Object.keys(storeReadInputs) as readonly StoreRead[];

/** Of the store as a whole: they take no environment. */
export const withoutEnvironment: readonly StoreRead[] = ["now", "workers"];
