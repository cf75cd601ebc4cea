// What crosses between the threads is what was said: random sequences of calls on a real core, each call and each answer packed, cloned and unpacked
// on its way. The calls meet each other (few keys, few runs, two workers), so that answers of every kind occur.
import fc from "fast-check";
import { expect, test } from "vitest";
import { eventScope, webhookScope } from "../../model/claim.ts";
import { ManualClock } from "../../platform/manual-clock.ts";
import type { AdvanceInput } from "../advance.ts";
import {
  decidedPair,
  end,
  env,
  eventWait,
  failure,
  fn,
  forever,
  keepGoing,
  laneOf,
  newAttempt,
  newEvent,
  newStep,
  newTick,
  startFlow,
  startPair,
  timeWait,
  value,
} from "../contract/world.ts";
import type { IngestInput, NewEvent, NewPair } from "../ingest.ts";
import type { LeasedJob } from "../leases.ts";
import type { Call, CallAnswer } from "./calls.ts";
import { SqliteCore } from "./core.ts";
import { loadMigrations } from "./migrations.ts";
import { noLeaseList, packCall, unpackCall } from "./wire.ts";
import { packAnswer, unpackAnswer } from "./wire-answers.ts";

const migrations = loadMigrations();
const cron = "* * * * *";

/** The runs whose lease the test's workers have: what an advance can be about. */
interface Known {
  readonly jobs: { readonly jobId: string; readonly fence: number; readonly worker: string }[];
  ids: number;
  now: number;
}

/** A call that fits what is known so far. */
type Draw = (known: Known) => Call;

// ------------------------------------------------------------------------------------------------ random calls

const worker = fc.constantFrom("w1", "w2");
const leaseTo = fc.option(worker);
const json = fc.json({ maxDepth: 2 });

const partOfEvent = fc.record({
  callerId: fc.constantFrom(null, null, "order-1", "order-2"),
  data: json,
  extra: fc.option(json),
  sourceRunId: fc.constantFrom(null, "r1"),
  more: fc.record(
    {
      idScope: fc.constantFrom(eventScope, webhookScope),
      values: fc.constant([{ path: "event.data.id", word: "a", value: '"a"' }]),
    },
    { requiredKeys: [] },
  ),
});

const flow = fc.constantFrom(
  null,
  null,
  startFlow(),
  startFlow({ lane: laneOf({ slot: 1 }) }),
  startFlow({ startWithinMs: 60_000 }),
  startFlow({ singleton: { key: "{}", mode: "cancel", result: '"newer"' } }),
  startFlow({ buffer: { kind: "debounce", key: "{}", periodMs: 100, timeoutMs: null } }),
);

const partOfPair = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("start" as const),
      over: fc.record({
        key: fc.constantFrom(null, null, "k1", "k2"),
        hold: fc.boolean(),
        rank: fc.integer({ min: -5, max: 5 }),
        leaseTo,
        flow,
        reason: fc.constantFrom(null, "by hand"),
        dueAt: fc.constantFrom(null, null, 1),
      }),
      code: fc.option(fc.string(), { nil: undefined }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom("filtered" as const), reason: fc.string() }) },
);

const eventWithPair = fc.tuple(partOfEvent, fc.option(partOfPair));

/** Each event with a pair or none, with ids that nothing else has. */
function eventsAndPairs(
  known: Known,
  parts: readonly (readonly [
    typeof partOfEvent extends fc.Arbitrary<infer T> ? T : never,
    typeof partOfPair extends fc.Arbitrary<infer T> ? T | null : never,
  ])[],
): { events: NewEvent[]; pairs: NewPair[] } {
  const events: NewEvent[] = [];
  const pairs: NewPair[] = [];
  for (const [{ more, ...event }, pair] of parts) {
    const n = ++known.ids;
    events.push(newEvent(`e${n}`, { ...event, ...more }));
    if (pair === null) continue;
    if (pair.kind === "start") {
      const over = { event: events.length - 1, ...pair.over };
      pairs.push(startPair(`r${n}`, pair.code === undefined ? over : { ...over, code: pair.code }));
    } else pairs.push(decidedPair({ event: events.length - 1, reason: pair.reason }));
  }
  return { events, pairs };
}

const ingest: fc.Arbitrary<Draw> = fc
  .tuple(fc.array(eventWithPair, { minLength: 1, maxLength: 3 }), leaseTo, fc.boolean())
  .map(([parts, to, isByHand]) => (known) => {
    const input: IngestInput = { env, registration: null, leaseTo: to, ...eventsAndPairs(known, parts) };
    const byHand = { actor: "ada", action: "event.send", subject: "e", reason: "why" } as unknown as NonNullable<
      IngestInput["byHand"]
    >;
    return { name: "ingest", input: [isByHand ? { ...input, byHand } : input] };
  });

// The same lists again, as a worker gives them, and others.
const functionLists = [[fn], [fn, "shop-mail"]] as const;
const capLists = [{}, { [fn]: { slots: [1], throttle: null } }] as const;
const codeLists = [undefined, { [fn]: "code" }] as const;

const lease: fc.Arbitrary<Draw> = fc
  .record({
    worker,
    functions: fc.constantFrom(...functionLists),
    caps: fc.constantFrom(...capLists),
    codes: fc.constantFrom(...codeLists),
    max: fc.integer({ min: 1, max: 5 }),
    room: fc.constantFrom(undefined, { bytes: 1_000, atLeastOne: true }),
  })
  .map(({ codes, room, ...input }) => () => ({
    name: "lease",
    input: [{ env, ...input, ...(codes === undefined ? {} : { codes }), ...(room === undefined ? {} : { room }) }],
  }));

const nextOf = fc.constantFrom<AdvanceInput["next"]>(
  { kind: "continue", collect: false },
  { kind: "continue", collect: false },
  { kind: "continue", collect: true },
  end("completed"),
  end("failed", '"why"', true),
  forever,
);

const advance: fc.Arbitrary<Draw> = fc
  .record({
    which: fc.nat(),
    isStale: fc.boolean(),
    // The two hot forms have shapes of their own.
    form: fc.constantFrom("one step", "end", "any"),
    steps: fc.array(fc.tuple(fc.constantFrom("a", "b", "c"), fc.boolean(), json, fc.boolean()), { maxLength: 2 }),
    hasWait: fc.constantFrom(null, null, null, "time", "event"),
    hasFailedAttempt: fc.constantFrom(false, false, true),
    nested: fc.option(fc.array(eventWithPair, { maxLength: 2 })),
    next: nextOf,
    log: fc.constantFrom(undefined, { part: "p", text: "[]" }),
  })
  .map((drawn) => (known) => {
    const { which, isStale, form, log } = drawn;
    const isAny = form === "any";
    const steps = isAny
      ? drawn.steps
      : form === "end"
        ? []
        : [...drawn.steps, ["e", false, "1", false] as const].slice(0, 1);
    const hasWait = isAny ? drawn.hasWait : null;
    const hasFailedAttempt = isAny && drawn.hasFailedAttempt;
    const nested = form === "one step" ? null : drawn.nested;
    const next = isAny ? drawn.next : form === "end" ? end("completed") : keepGoing;
    const job = known.jobs[which % Math.max(1, known.jobs.length)] ?? { jobId: "r0", fence: 1, worker: "w1" };
    const inner = nested === null ? null : { registration: null, ...eventsAndPairs(known, nested) };
    const input: AdvanceInput = {
      env,
      worker: job.worker,
      runId: job.jobId,
      jobId: job.jobId,
      fence: isStale && which % 5 === 0 ? job.fence + 1 : job.fence,
      seen: which % 3,
      steps: steps.map(([stepId, isError, text, hasInput]) =>
        newStep(stepId, { outcome: isError ? failure(text) : value(text), ...(hasInput ? { input: text } : {}) }),
      ),
      attempts: hasFailedAttempt ? [newAttempt("d", 1)] : [],
      waits:
        hasWait === null || next.kind === "end" ? [] : [hasWait === "time" ? timeWait("t", 9_999) : eventWait("w")],
      ingest: inner,
      next,
    };
    return { name: "advance", input: [log === undefined ? input : { ...input, log }] };
  });

const tick: fc.Arbitrary<Draw> = fc
  .tuple(fc.array(fc.tuple(fc.integer({ min: -2, max: 2 }), fc.option(worker), flow), { maxLength: 2 }), leaseTo)
  .map(([instants, to]) => (known) => {
    const ticks = instants.map(([shift, leased, passes]) =>
      newTick(cron, known.now + shift, { leaseTo: leased, flow: passes }),
    );
    return { name: "tick", input: [{ env, registration: null, leaseTo: to, ticks }] };
  });

const anythingElse: fc.Arbitrary<Draw> = fc.constant(
  () => ({ name: "heartbeat", input: [{ env, worker: "w1" }] }) as unknown as Call,
);

// ------------------------------------------------------------------------------------------------ the way across

function across(core: SqliteCore) {
  const sent = noLeaseList();
  const came = noLeaseList();
  return (call: Call): { readonly answer: CallAnswer; readonly shape: string; readonly isPacked: boolean } => {
    const packed = packCall(call, sent);
    const arrived = unpackCall(structuredClone(packed) as unknown[], came);
    expect(arrived).toEqual(call);
    const answer = core.commit([arrived])[0]!;
    const crossing = packAnswer(arrived, answer);
    expect(unpackAnswer(call, structuredClone(crossing))).toEqual(answer);
    return { answer, shape: String(packed[0]), isPacked: crossing !== answer };
  };
}

function remember(known: Known, call: Call, answer: CallAnswer): void {
  if (!answer.ok) return;
  const found = answer.value as {
    readonly jobs?: readonly LeasedJob[];
    readonly leased?: readonly LeasedJob[] | boolean;
  };
  const leased = found.jobs ?? (Array.isArray(found.leased) ? (found.leased as readonly LeasedJob[]) : []);
  const input = call.input[0] as { readonly worker?: string; readonly leaseTo?: string | null };
  for (const { kind, jobId, fence } of leased) {
    if (kind === "run") known.jobs.push({ jobId, fence, worker: input.worker ?? input.leaseTo ?? "w1" });
  }
}

test("every call and every answer arrives at the other thread as it was", () => {
  const shapes = new Map<string, number>();
  const count = (shape: string) => shapes.set(shape, (shapes.get(shape) ?? 0) + 1);
  const draw = fc.oneof(
    { weight: 4, arbitrary: ingest },
    { weight: 2, arbitrary: lease },
    { weight: 6, arbitrary: advance },
    { weight: 1, arbitrary: tick },
    { weight: 1, arbitrary: anythingElse },
  );
  fc.assert(
    fc.property(fc.array(draw, { minLength: 5, maxLength: 30 }), (draws) => {
      const clock = new ManualClock();
      const core = new SqliteCore({ path: ":memory:", migrations, clock, owner: "test" });
      const cross = across(core);
      const known: Known = { jobs: [], ids: 0, now: clock.wallMs() };
      try {
        const functions = [fn, "shop-mail"].map((name) => ({ fn: name, id: name, config: "{}", crons: [cron] }));
        cross({ name: "register", input: [{ env, app: "shop", functions }] });
        clock.advance(1_000);
        known.now = clock.wallMs();
        for (const each of draws) {
          const call = each(known);
          const { answer, shape, isPacked } = cross(call);
          const kind = answer.ok ? (answer.value as { readonly kind?: string } | undefined)?.kind : "refused";
          count(shape);
          count(`${call.name}: ${kind}${isPacked ? ", packed" : ""}`);
          remember(known, call, answer);
        }
      } finally {
        core.close();
      }
    }),
    { numRuns: 200 },
  );
  // Otherwise the sequences met too little: each hot shape, and each kind of answer to it, packed and whole.
  const met = [...shapes.keys()].sort();
  for (const shape of ["0", "1", "2", "3", "4", "5"]) expect(shapes.get(shape), `shape ${shape}`).toBeGreaterThan(10);
  for (const kind of [
    "advance: advanced",
    "advance: advanced, packed",
    "advance: fenced",
    "ingest: ingested",
    "ingest: ingested, packed",
    "tick: ticked",
    "tick: ticked, packed",
  ]) {
    expect(met).toContain(kind);
  }
});

test("functions that a worker leases for cross once, and again when they change", () => {
  const sent = noLeaseList();
  const came = noLeaseList();
  const functions = ["a", "b"];
  const caps = { a: { slots: [1], throttle: null } };
  const packLease = (input: object) => {
    const call = { name: "lease" as const, input: [{ env: "e", worker: "w", max: 1, ...input }] };
    const packed = structuredClone(packCall(call, sent)) as unknown[];
    expect(unpackCall(packed, came)).toEqual(call);
    return packed[4];
  };
  expect(packLease({ functions, caps })).toEqual(["a", "b"]);
  expect(packLease({ functions, caps })).toBeNull();
  expect(packLease({ functions: ["c"], caps })).toEqual(["c"]);
  expect(packLease({ functions, caps: {} })).toEqual(["a", "b"]);
});
