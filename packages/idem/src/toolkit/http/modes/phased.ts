// A list of phases behind a route. A retry goes on where the last attempt stopped; what nobody retries, a completer ends.

import { parseDuration } from "../../../model/duration.ts";
import { refuseUnknown } from "../../../model/known-options.ts";
import type { FetchHandler } from "../../../sdk/request-address.ts";
import { callWithin, pause } from "../../call-within.ts";
import { newOwner } from "../../claim/claim-operations.ts";
import type { KeyAnswer, KeyAsk, KeyStore } from "../../keys/key-store.ts";
import type { KeyedRequest, RouteOptions } from "../begin.ts";
import { problemResponse } from "../problems.ts";
import { refuseUnknownInside, routeSettings } from "../route-settings.ts";
import { preferredWaitMs, WaitRoom } from "../wait-room.ts";
import { ownError, problemOf } from "./attempt-transaction.ts";
import {
  type KeyReader,
  limitsOf,
  type ModeOptions,
  modeOptions,
  refuseSeal,
  seen,
  toldResponse,
} from "./mode-route.ts";
import type { AnyPhases } from "./phases.ts";
import { readInput } from "./read-input.ts";
import { firstResponse } from "./respond.ts";
import { type PhasesEnd, type PhaseWorld, runPhases } from "./run-phases.ts";

export interface KeyReaderWithStore extends KeyReader {
  readonly keys: KeyStore;
}

export interface PhasedOptions
  extends Omit<ModeOptions, "required">,
    Pick<RouteOptions, "lease" | "onDuplicate" | "maxWait"> {
  /** A phase's transaction is open for this long at most. Default "5s". */
  readonly maxTx?: string | number;
}

// As everywhere in the toolkit: a store that does not answer a claim in this time is away.
const claimMsMax = 2_000;
const maxTxDefault = "5s";

export const phaseWorldOf = (
  reader: KeyReaderWithStore,
  { maxTx, ...route }: Pick<PhasedOptions, "lease" | "window" | "maxTx" | "responseBytesMax" | "replayHeaders">,
): PhaseWorld => {
  refuseSeal(reader, "phased");
  const { keys, platform } = reader;
  const settings = routeSettings({ ...route, onCrash: "resume" });
  const maxTxMs = parseDuration(maxTx ?? maxTxDefault, "maxTx");
  return { keys, platform, leaseMs: settings.leaseMs, limits: limitsOf(settings), maxTxMs, lockMs: maxTxMs };
};

/**
 * ```ts
 * app.post("/rides", phased(keys, createRide));
 * ```
 *
 * Needs a key: without one there is nothing to go on from.
 */
export function phased(reader: KeyReaderWithStore, phases: AnyPhases, options: PhasedOptions = {}): FetchHandler {
  const { required: _, ...known } = modeOptions;
  refuseUnknown<PhasedOptions>("phased", options, {
    ...known,
    lease: true,
    onDuplicate: true,
    maxWait: true,
    maxTx: true,
  });
  refuseUnknownInside(options);
  const { keys, platform } = reader;
  const route: RouteOptions = { ...options, required: true, onCrash: "resume" };
  const world = phaseWorldOf(reader, options);

  const { isWaiting, waitMsMax } = routeSettings(route);
  const room = new WaitRoom();

  const askOf = ({ id, fingerprints, about }: KeyedRequest, input: string): KeyAsk => ({
    id,
    owner: newOwner(platform),
    fingerprints,
    leaseMs: world.leaseMs,
    windowMs: world.limits.windowMs,
    onCrash: "resume",
    about,
    work: { name: phases.name, input },
  });

  /** Null: the store did not say "yours" in time, so nobody executes. */
  async function claim(ask: KeyAsk): Promise<KeyAnswer | null> {
    const called = await callWithin(platform, claimMsMax, () => keys.claim(ask));
    if (called.kind === "answer") return called.value;
    if (called.kind === "late") {
      // Should it be given after all, nobody works under it: the next asker may have it at once.
      const giveBack = (late: KeyAnswer) =>
        late.kind === "fresh" ? keys.leave({ ...ask, fence: late.fence }, 0) : null;
      called.pending.then(giveBack).catch(() => {});
    }
    return null;
  }

  /** A duplicate that waits asks again, ever more slowly; should the first one die meanwhile, it goes on itself. */
  async function claimInTurn(ask: KeyAsk, prefer: string | null): Promise<KeyAnswer | null> {
    let answer = await claim(ask);
    const waitMs = Math.min(preferredWaitMs(prefer) ?? (isWaiting ? waitMsMax : 0), waitMsMax);
    if (answer?.kind !== "in-flight" || waitMs <= 0 || !room.enter(ask.id)) return answer;
    try {
      const untilMs = platform.monoMs() + waitMs;
      for (let pollMs = 50; answer?.kind === "in-flight"; pollMs = Math.min(pollMs * 1.5, 500)) {
        const leftMs = untilMs - platform.monoMs();
        if (leftMs <= 0) break;
        await pause(platform, Math.min(pollMs, leftMs));
        answer = await claim(ask);
      }
      return answer;
    } finally {
      room.leave(ask.id);
    }
  }

  /** The input the first attempt read; a later one may read something else out of the same request, such as the time. */
  async function inputOf({ id }: KeyAsk, attempt: number, given: string): Promise<unknown> {
    if (attempt === 1) return JSON.parse(given);
    return JSON.parse((await keys.read(id))?.work?.input ?? given);
  }

  async function answerTo(keyed: KeyedRequest, request: Request): Promise<Response> {
    const read = await readInput(phases.input, keyed.request.clone() as Request);
    if (read.kind === "refused") return read.response;
    const text = JSON.stringify(read.value ?? null);
    const ask = askOf(keyed, text);
    const answer = await claimInTurn(ask, request.headers.get("prefer"));
    if (answer === null) return problemResponse("store-unavailable");
    if (answer.kind !== "fresh") return toldResponse(answer);
    const { fence, attempt, point } = answer;
    const holder = { id: ask.id, owner: ask.owner, fence };
    try {
      const input = await inputOf(ask, attempt, text).catch(async (error: unknown) => {
        await keys.leave(holder, 0);
        throw error;
      });
      return await responseOf(await runPhases(phases, { holder, attempt, point, input }, world), ask.id, world);
    } catch (error) {
      const problem = problemOf(error);
      if (problem !== null) return problem;
      throw ownError(error);
    }
  }

  return async (request) => {
    const read = await reader.read(request, route);
    if (read.kind === "answer") return read.response;
    if (read.kind === "plain") return seen(problemResponse("key-missing"), request, route);
    return seen(await answerTo(read.keyed, request), request, route);
  };
}

async function responseOf(end: PhasesEnd, id: string, { keys, platform, limits }: PhaseWorld): Promise<Response> {
  switch (end.kind) {
    case "ended":
      return firstResponse(end.answer, platform.wallMs() + limits.windowMs);
    case "parked":
      return problemResponse("outcome-unknown");
    case "lost": {
      // The outcome recorded by the takeover is this request's answer, too.
      const record = await keys.read(id);
      if (record?.state !== "completed" || record.outcome === null) return problemResponse("in-flight");
      const { outcome, completedAt, endsAt } = record;
      return toldResponse({ kind: "duplicate", outcome, completedAt: completedAt ?? 0, endsAt });
    }
    case "left":
      throw end.error;
  }
}
