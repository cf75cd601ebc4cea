// The things a typed word may mean: a run, an event, a function's key, or a value that a function without a key is about.
// Every look is bounded: by an index, or by the newest rows.
import type { Engine } from "../engine/engine.ts";
import { functionScope } from "../model/claim.ts";
import type { FunctionConfig } from "../model/function-config.ts";
import { fromJson } from "../model/json.ts";
import { findEvent } from "../observe/find-event.ts";
import { functionKeyOf } from "../observe/function-key.ts";
import { fieldsOf, isIdentity } from "../radar/fields.ts";
import { guessesOf, namesIn } from "./gather-case.ts";
import type { StoryHit } from "./story.ts";
import { plainOf, shortId, some } from "./story-words.ts";

// Beyond these nobody waits for an answer; the Runs page has filters.
const functionsMax = 100;
const keylessMax = 30;
const eventsLooked = 500;
const partialMax = 10;

export interface FoundSubjects {
  /** Things with exactly this id, key or value. */
  readonly exact: readonly StoryHit[];
  /** Events whose id has it as a part. */
  readonly partial: readonly StoryHit[];
}

export async function findSubjects(engine: Engine, q: string): Promise<FoundSubjects> {
  const { store, env } = engine;
  const nameOf = await namesIn(engine);
  const exact: StoryHit[] = [];
  const run = await store.reads.run(env, q);
  if (run !== null) exact.push({ as: "run", id: run.id, function: run.fn, words: `Run of ${nameOf(run.fn)}` });
  const event = run === null ? await findEvent(engine, q) : null;
  if (event !== null) exact.push({ as: "event", id: event.id, function: null, words: `Event ${event.name}` });
  if (exact.length === 0) {
    const { functions } = await store.reads.functions(env);
    let keyless = 0;
    for (const { fn, config } of functions.slice(0, functionsMax)) {
      const isKeyed = (JSON.parse(config) as FunctionConfig).idempotency !== null;
      const name = nameOf(fn);
      if (await hasKey(engine, fn, q)) exact.push({ as: "key", id: q, function: fn, words: `Key of ${name}` });
      else if (!isKeyed && keyless++ < keylessMax) {
        const field = await fieldWith(engine, fn, q);
        if (field !== null)
          exact.push({ as: "entity", id: q, function: fn, words: `${field} in runs of ${name}, which has no key` });
      }
    }
  }
  return { exact, partial: exact.length === 1 ? [] : await partsOf(engine, q) };
}

async function hasKey({ store, env }: Engine, fn: string, q: string): Promise<boolean> {
  const key = await functionKeyOf(store.reads, env, fn, q);
  if ((await store.reads.claim(env, functionScope(fn), key)) !== null) return true;
  return (await store.reads.runPage(env, { fn, key, limit: 1, examinedMax: 1_000 })).rows.length > 0;
}

/** The field of the newest runs' events that has this value; null when none has. */
async function fieldWith(engine: Engine, fn: string, q: string): Promise<string | null> {
  return (await runsWith(engine, fn, q))?.field ?? null;
}

export async function runsWith(
  engine: Engine,
  fn: string,
  q: string,
): Promise<{ readonly field: string; readonly runIds: readonly string[] } | null> {
  const { runs, dataOf, guesses } = await guessesOf(engine, fn);
  const guessed = runs.flatMap(({ id }) => {
    const guess = guesses.get(id);
    return guess !== undefined && plainOf(guess.entity) === q ? [{ id, expression: guess.expression }] : [];
  });
  const [first] = guessed;
  if (first !== undefined) {
    return { field: first.expression.replace(/^event\.data\./, ""), runIds: guessed.map(({ id }) => id) };
  }
  for (const { id } of runs) {
    const data = dataOf(id);
    if (data === null || !data.includes(q)) continue;
    const field = fieldsOf(fromJson(data)).find((each) => isIdentity(each) && String(each.value) === q);
    if (field !== undefined) return { field: field.path.replace(/^event\.data\./, ""), runIds: [id] };
  }
  return null;
}

async function partsOf({ store, env }: Engine, q: string): Promise<StoryHit[]> {
  const { rows } = await store.reads.eventPage(env, { limit: eventsLooked, examinedMax: eventsLooked });
  return rows
    .filter(({ callerId, firstEventId }) => firstEventId === null && callerId !== null && callerId.includes(q))
    .slice(0, partialMax)
    .map(({ id, name, callerId }) => ({
      as: "event",
      id,
      function: null,
      words: `Event ${shortId(callerId!)}, ${name}`,
    }));
}

/** "48213 is a key of two functions and part of one event id" */
export function severalSentence(q: string, { exact, partial }: FoundSubjects): string {
  const count = (as: StoryHit["as"]) => exact.filter((each) => each.as === as).length;
  const parts = [
    count("run") === 0 ? "" : "a run",
    count("event") === 0 ? "" : "an event",
    count("key") === 0 ? "" : `a key of ${some(count("key"), "function")}`,
    count("entity") === 0 ? "" : `in the data of ${some(count("entity"), "function")} without a key`,
    partial.length === 0 ? "" : `part of ${some(partial.length, "event id")}`,
  ].filter((part) => part !== "");
  const last = parts.pop();
  return `${shortId(q)} is ${parts.length === 0 ? last : `${parts.join(", ")} and ${last}`}.`;
}

/** The newest things there are, to begin with. */
export async function examplesIn(engine: Engine): Promise<StoryHit[]> {
  const { store, env } = engine;
  const nameOf = await namesIn(engine);
  const { rows } = await store.reads.runPage(env, { limit: 3, examinedMax: 3 });
  return rows.map(({ id, fn, key }) =>
    key === null
      ? { as: "run", id, function: fn, words: `Run of ${nameOf(fn)}` }
      : { as: "key", id: plainOf(key), function: fn, words: `Key of ${nameOf(fn)}` },
  );
}
