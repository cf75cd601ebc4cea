// One event that waits for a person, paused or held, is released or dropped.
import type { Engine } from "../engine/engine.ts";
import { redecideEvent, type Verdict } from "../engine/redecide-events.ts";
import { type Decision, isPending } from "../model/decision.ts";
import { errors } from "../model/errors.ts";
import { type ExplainedDecision, explainEvent } from "../observe/explain.ts";
import { findEvent } from "../observe/find-event.ts";
import { slugIn } from "./find-subject.ts";

export interface DecideOptions {
  readonly function?: string | undefined;
  readonly reason?: string | undefined;
  /** Who asked, for the audit. */
  readonly actor?: string | undefined;
  /** The asker's name for a function; its full name by default. */
  readonly nameOf?: (fn: string) => string;
}

const fullName = (fn: string): string => fn;

/** The new decision. Throws SUBJECT_UNKNOWN, EVENT_NOT_WAITING, and OPTION_INVALID when several functions wait. */
export async function decideEvent(
  engine: Engine,
  id: string,
  verdict: Verdict,
  options: DecideOptions,
): Promise<ExplainedDecision> {
  const { store, env } = engine;
  const event = await findEvent(engine, id);
  if (event === null) throw errors.SUBJECT_UNKNOWN({ id });
  const decisions = () => store.reads.decisionsOfEvent(env, event.id);
  const { nameOf = fullName } = options;
  const fn = await waitingFunction(engine, { id, name: options.function, nameOf }, await decisions());
  const decided = await redecideEvent(engine, event.id, fn, {
    verdict,
    reason: options.reason ?? "",
    actor: options.actor,
  });
  if (decided === null) throw notWaiting({ id, nameOf }, fn, await decisions());
  const explained = await explainEvent(store.reads, env, event);
  return { ...decided, differs: explained.decisions.find((each) => each.fn === fn)?.differs ?? [] };
}

interface Waiting {
  readonly id: string;
  readonly name?: string | undefined;
  nameOf(fn: string): string;
}

async function waitingFunction(engine: Engine, asked: Waiting, decisions: readonly Decision[]): Promise<string> {
  const { id, name, nameOf } = asked;
  if (name !== undefined) {
    const fn = await slugIn(engine, name);
    if (engine.registry.get(fn) === null && !decisions.some((decision) => decision.fn === fn)) {
      throw errors.FUNCTION_UNKNOWN({ function: name });
    }
    if (!decisions.some((decision) => decision.fn === fn && waitsForPerson(decision))) {
      throw notWaiting(asked, fn, decisions);
    }
    return fn;
  }
  const waiting = decisions.filter(waitsForPerson);
  if (waiting.length > 1) {
    const names = waiting.map(({ fn }) => `"${nameOf(fn)}"`).join(", ");
    throw errors.OPTION_INVALID({ option: "function", why: `event ${id} waits for several, ${names}: say for which` });
  }
  if (waiting.length === 0) throw notWaiting(asked, null, decisions);
  return waiting[0]!.fn;
}

const waitsForPerson = (decision: Decision): boolean =>
  isPending(decision) && (decision.kind === "paused" || decision.kind === "held");

function notWaiting({ id: eventId, nameOf }: Waiting, fn: string | null, all: readonly Decision[]) {
  const told = all.filter((decision) => fn === null || decision.fn === fn).map((each) => sentence(each, nameOf));
  const why =
    told.length > 0 ? told.join("; ") : fn === null ? "it reached no function" : "it did not reach this function";
  return errors.EVENT_NOT_WAITING({ eventId, why });
}

function sentence(decision: Decision, nameOf: (fn: string) => string): string {
  const { kind, runId } = decision;
  const by = `function "${nameOf(decision.fn)}"`;
  if (isPending(decision)) return `${by} keeps it as ${kind} and decides it by itself`;
  return `${by} decided it as ${kind}${runId === null ? "" : `, run ${runId}`}`;
}
