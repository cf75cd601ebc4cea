import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { planCancels } from "../flow/cancel-on/plan.ts";
import type { Event } from "../model/event.ts";
import { Expressions } from "../model/expression.ts";
import { type TakenEquality, takeEquality } from "../model/expression-equality.ts";
import { evaluateFilter } from "../model/expression-outcome.ts";
import { turnCostMax } from "../model/metered-cost.ts";
import { turnMeter } from "../model/turn-meter.suite.ts";
import { Turns } from "../model/turns.ts";
import { cancelledBy, probesOf, wokenBy } from "./wake-waits.ts";

const expressions = new Expressions();
const deciding = { expressions, turns: new Turns((run) => void setImmediate(run)) };
const stored: Event = {
  id: "e1",
  callerId: null,
  name: "order/placed",
  data: "{}",
  ts: 1,
  extra: null,
  receivedAt: 1,
  firstEventId: null,
  sourceRunId: null,
};

/** Like a store: under the path "" everything is a candidate, elsewhere what was looked up. */
const isCandidate = ({ path, value }: TakenEquality, payload: unknown): boolean =>
  path === "" || probesOf(payload, [path]).some((probe) => probe.path === path && probe.value === value);

async function wakes(taken: TakenEquality, own: unknown, arriving: unknown): Promise<boolean> {
  const candidates = isCandidate(taken, arriving)
    ? [{ runId: "r1", stepId: "s1", rest: taken.rest, event: stored }]
    : [];
  return (await wokenBy(arriving, candidates, () => own, deciding)).length === 1;
}

async function cancels(text: string, own: unknown, arriving: unknown): Promise<boolean> {
  const rules = planCancels([{ event: "order/gone", if: text, timeoutMs: null }], own, expressions);
  const candidates = rules
    .filter((rule) => isCandidate(rule, arriving))
    .map(({ rest }) => ({ runId: "r1", rest, event: stored }));
  return (await cancelledBy(arriving, candidates, () => own, deciding)).length === 1;
}

describe("by index, then by the rest, an event finds what evaluating every expression finds", () => {
  const data = fc.constantFrom('["a"]', ".a", ".b", ".a.b", ".list.length", '.list["0"]', ".list[0]", '["a.b"]', ".no");
  const path = (root: string) =>
    fc.oneof({ weight: 8, arbitrary: data.map((at) => `${root}.data${at}`) }, fc.constant(`${root}.name`));
  const literal = fc.constantFrom(
    ...["'a'", "'1'", "''", "1", "1.0", "-1", "0", "-0.0", "1.5", "2", "9007199254740993", "true", "false", "null"],
    ...["[1]", "['1']", "{'b': 1}"],
  );
  const computed = path("event").chain((at) =>
    fc.constantFrom(`${at} + 'x'`, `${at} + 1`, `size(${at})`, `string(${at})`, `(${at} == 1)`, `(${at} ? 1 : 'a')`),
  );
  const side = fc.oneof(
    { weight: 4, arbitrary: path("event") },
    { weight: 3, arbitrary: literal },
    { weight: 1, arbitrary: computed },
    { weight: 1, arbitrary: path("async") },
  );
  const equality = fc
    .oneof(
      fc.tuple(path("async"), side),
      data.map((at) => [`async.data${at}`, `event.data${at}`] as const),
    )
    .chain(([left, right]) => fc.constantFrom(`${right} == ${left}`, `${left} == ${right}`));
  const relation = fc
    .tuple(path("async"), fc.constantFrom("!=", "<", "<=", ">", ">=", "in"), side)
    .map(([left, operator, right]) => `${left} ${operator} ${right}`);
  const { whole } = fc.letrec<{ whole: string; part: string }>((tie) => ({
    whole: fc.oneof(
      { maxDepth: 3 },
      { weight: 4, arbitrary: equality },
      relation,
      path("async"),
      path("event"),
      { weight: 4, arbitrary: fc.tuple(tie("part"), tie("part")).map((parts) => parts.join(" && ")) },
      fc.tuple(tie("part"), tie("part")).map((parts) => parts.join(" || ")),
      fc.tuple(tie("part"), tie("part"), tie("part")).map(([a, b, c]) => `${a} ? ${b} : ${c}`),
      tie("part").map((part) => `!${part}`),
      tie("part").map((part) => `${part} == true`),
    ),
    part: tie("whole").map((text) => `(${text})`),
  }));

  // The type check refuses some, such as `async.name < null`.
  const compiles = (text: string): boolean => {
    try {
      return expressions.get(text) !== undefined;
    } catch {
      return false;
    }
  };

  const scalar = fc.constantFrom<unknown>("a", "1", "", 1, 0, -0, -1, 1.5, 2, 2 ** 53, true, false, null);
  const value = fc.oneof(
    { weight: 4, arbitrary: scalar },
    { weight: 1, arbitrary: fc.record({ b: scalar, length: scalar, "0": scalar }, { requiredKeys: [] }) },
    { weight: 1, arbitrary: fc.array(scalar, { maxLength: 2 }) },
  );
  const fields = fc.record({ a: value, b: value, list: value, "a.b": value }, { requiredKeys: [] });
  // Events of one matter agree in most fields.
  const pair = fc
    .tuple(fields, fields, fc.subarray(["a", "b", "list", "a.b"], { minLength: 1 }))
    .map(([own, other, same]) => {
      const arriving: Record<string, unknown> = { ...other };
      for (const name of same) {
        if (Object.hasOwn(own, name)) arriving[name] = (own as Record<string, unknown>)[name];
      }
      return [
        { name: "a", data: own },
        { name: "1", data: arriving },
      ] as const;
    });

  test("for whatever people write, whatever arrives", async () => {
    const seen = { indexed: 0, byIndexAlone: 0, found: 0 };
    await fc.assert(
      fc.asyncProperty(whole.filter(compiles), fc.array(pair, { minLength: 4, maxLength: 4 }), async (text, pairs) => {
        const expression = expressions.get(text);
        for (const [own, arriving] of pairs) {
          const { pass } = evaluateFilter(expression, { event: own, async: arriving });
          const taken = takeEquality(expression, own);
          expect(await wakes(taken, own, arriving)).toBe(pass);
          expect(await cancels(text, own, arriving)).toBe(pass);
          if (taken.path === "") continue;
          seen.indexed++;
          if (taken.rest === null) seen.byIndexAlone++;
          if (pass) seen.found++;
        }
      }),
      { numRuns: 3_000 },
    );
    // Neither all by evaluation nor all without an answer: there was something to compare.
    expect(Math.min(seen.indexed, seen.byIndexAlone, seen.found)).toBeGreaterThan(100);
  });

  test("every scalar against every scalar, where nothing but the index decides", async () => {
    const scalars = ["1", "", "null", "true", "\ud800", "ö".normalize("NFC"), "ö".normalize("NFD")]
      .concat(["x".repeat(600), "\u0000", '"'])
      .concat([1, 1.5, 0, -0, 2 ** 53, 2 ** 53 + 2, 1e300, 5e-324, true, false, null, [1], { a: 1 }] as never[]);
    for (const text of ["async.data.v == event.data.v", "event.data.v == async.data.v && true"]) {
      for (const mine of [...scalars, undefined]) {
        for (const theirs of [...scalars, undefined]) {
          const [own, arriving] = [mine, theirs].map((v) => ({ data: v === undefined ? {} : { v } }));
          const expression = expressions.get(text);
          const { pass } = evaluateFilter(expression, { event: own, async: arriving });
          expect(await wakes(takeEquality(expression, own), own, arriving)).toBe(pass);
        }
      }
    }
  });
});

describe("what an event is looked up by", () => {
  test("the canonical JSON at each path in use, through objects and lists", () => {
    const payload = { name: "a/b", data: { id: 7, items: [{ sku: "a" }], map: { b: 1, a: 2 } } };
    expect(probesOf(payload, ["", "name", "data.id", "data.items.0.sku", "data.items.length", "data.map"])).toEqual([
      { path: "name", value: '"a/b"' },
      { path: "data.id", value: "7" },
      { path: "data.items.0.sku", value: '"a"' },
      { path: "data.items.length", value: "1" },
      { path: "data.map", value: '{"a":2,"b":1}' },
    ]);
  });

  test("nothing where it has no value: missing, null, beyond JSON, inherited", () => {
    const payload = { data: { nothing: null, text: "abc", items: [], infinite: Number.POSITIVE_INFINITY } };
    const paths = ["no", "data.no", "data.nothing", "data.text.length", "data.items.0", "data.infinite"];
    expect(probesOf(payload, [...paths, "data.constructor", "data.items.push"])).toEqual([]);
    expect(probesOf(null, paths)).toEqual([]);
  });

  test("the word null is a text like any other", () => {
    expect(probesOf({ data: { v: "null" } }, ["data.v"])).toEqual([{ path: "data.v", value: '"null"' }]);
  });
});

describe("entries that cancel a run", () => {
  const own = { name: "order/placed", data: { id: 7 } };

  test("are written down with one equality, the rest, and how long they count", () => {
    const both = "async.data.id == event.data.id && async.data.by == 'user'";
    expect(
      planCancels(
        [
          { event: "order/gone", if: null, timeoutMs: null },
          { event: "order/gone", if: "event.data.id == async.data.id", timeoutMs: 60_000 },
          { event: "user/left", if: both, timeoutMs: null },
          { event: "user/left", if: "async.data.id > 5", timeoutMs: null },
        ],
        own,
        expressions,
      ),
    ).toEqual([
      { eventName: "order/gone", path: "", value: "", rest: null, lastsMs: null },
      { eventName: "order/gone", path: "data.id", value: "7", rest: null, lastsMs: 60_000 },
      { eventName: "user/left", path: "data.id", value: "7", rest: both, lastsMs: null },
      { eventName: "user/left", path: "", value: "", rest: "async.data.id > 5", lastsMs: null },
    ]);
  });

  test("name each run once, and only those whose rest is true of their own event", async () => {
    const rest = "async.data.total > event.data.limit";
    const ofRun = (runId: string, limit: number, text: string | null = rest) => ({
      runId,
      rest: text,
      event: { ...stored, data: JSON.stringify({ limit }) },
    });
    const candidates = [
      ofRun("r1", 5, "false"),
      ofRun("r1", 5),
      ofRun("r1", 5),
      ofRun("r2", 50),
      ofRun("r3", 99, null),
    ];
    const payloadOfRun = ({ event }: { event: Event }) => ({ data: JSON.parse(event.data) });
    expect(await cancelledBy({ data: { total: 10 } }, candidates, payloadOfRun, deciding)).toEqual(["r1", "r3"]);
    expect(await cancelledBy({ data: {} }, candidates, payloadOfRun, deciding)).toEqual(["r3"]);
  });
});

test("an event that many runs have costly expressions for gives the loop back while they are asked", async () => {
  const rest = "async.data.list.exists(a, async.data.list.exists(b, int('x') == 1))";
  const arriving = { data: { list: Array.from({ length: 1_000 }, (_, i) => i) } };
  const candidates = Array.from({ length: 20 }, (_, i) => ({ runId: `r${i}`, stepId: "s", rest, event: stored }));
  const meter = turnMeter();
  expect(await wokenBy(arriving, candidates, () => ({}), { expressions, turns: meter.turns })).toEqual([]);
  expect(await cancelledBy(arriving, candidates, () => ({}), { expressions, turns: meter.turns })).toEqual([]);
  expect(meter.costs().length).toBeGreaterThanOrEqual(40);
  expect(Math.max(...meter.costs())).toBeLessThanOrEqual(turnCostMax);
});
