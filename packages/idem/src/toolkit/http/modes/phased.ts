// A list of phases behind a route. A retry goes on where the last attempt stopped; what nobody retries, a completer ends.
import { parseDuration } from "../../../model/duration.ts";
import type { KeyAsk, KeyHolder, KeyStore } from "../../keys/key-store.ts";
import { newOwner } from "../../owner-name.ts";
import type { KeyedRequest, RouteOptions } from "../begin.ts";
import { problemResponse } from "../problems.ts";
import { routeSettings } from "../route-settings.ts";
import { callWithin } from "../store-call.ts";
import { problemOf } from "./attempt-transaction.ts";
import type { Told } from "./look-key.ts";
import { type KeyReader, limitsOf, type ModeOptions, toldResponse } from "./mode-route.ts";
import type { AnyPhases } from "./phases.ts";
import { readInput } from "./read-input.ts";
import { firstResponse } from "./respond.ts";
import { type PhasesEnd, type PhaseWorld, runPhases } from "./run-phases.ts";
import type { FetchHandler } from "./same-transaction.ts";

export interface KeyReaderWithStore extends KeyReader {
  readonly keys: KeyStore;
}

export interface PhasedOptions extends Omit<ModeOptions, "required">, Pick<RouteOptions, "lease"> {
  /** How long the transaction of a phase may be open. Default "5s". */
  readonly maxTx?: string | number;
}

// As everywhere in the toolkit: a store that does not answer a claim in this time is away.
const claimMsMax = 2_000;
const maxTxDefault = "5s";

export const phaseWorldOf = (
  { keys, platform }: KeyReaderWithStore,
  { maxTx, ...route }: Pick<PhasedOptions, "lease" | "window" | "maxTx" | "responseBytesMax" | "replayHeaders">,
): PhaseWorld => {
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
  const { keys, platform } = reader;
  const route: RouteOptions = { ...options, required: true, onCrash: "resume" };
  const world = phaseWorldOf(reader, options);

  async function claimed(
    keyed: KeyedRequest,
    input: string,
  ): Promise<{ holder: KeyHolder; told: Told } | Claimed | null> {
    const owner = newOwner(platform);
    const ask: KeyAsk = {
      id: keyed.id,
      owner,
      fingerprints: keyed.fingerprints,
      leaseMs: world.leaseMs,
      windowMs: world.limits.windowMs,
      onCrash: "resume",
      about: keyed.about,
      work: { name: phases.name, input },
    };
    const called = await callWithin(platform, claimMsMax, () => keys.claim(ask));
    const holderOf = (fence: number): KeyHolder => ({ id: keyed.id, owner, fence });
    if (called.kind === "late") {
      // Should it be given after all, nobody works under it: whoever asks next may have it at once.
      called.pending
        .then((late) => (late.kind === "fresh" ? keys.leave(holderOf(late.fence), 0) : "lost"))
        .catch(() => {});
    }
    if (called.kind !== "answer") return null;
    const answer = called.value;
    if (answer.kind !== "fresh") return { holder: holderOf(0), told: answer };
    return { holder: holderOf(answer.fence), attempt: answer.attempt, point: answer.point };
  }

  return async (request) => {
    const read = await reader.read(request, route);
    if (read.kind === "answer") return read.response;
    if (read.kind === "plain") return problemResponse("key-missing");
    const input = await readInput(phases.input, read.keyed.request.clone() as Request);
    if (input.kind === "refused") return input.response;
    const text = JSON.stringify(input.value ?? null);
    const claim = await claimed(read.keyed, text);
    if (claim === null) return problemResponse("store-unavailable");
    if ("told" in claim) return toldResponse(claim.told);
    const end = await runPhases(phases, { ...claim, input: JSON.parse(text) }, world);
    return responseOf(end, read.keyed.id, world);
  };
}

interface Claimed {
  readonly holder: KeyHolder;
  readonly attempt: number;
  readonly point: KeyAskPoint;
}
type KeyAskPoint = Parameters<typeof runPhases>[1]["point"];

async function responseOf(end: PhasesEnd, id: string, { keys, platform, limits }: PhaseWorld): Promise<Response> {
  switch (end.kind) {
    case "ended":
      return firstResponse(end.answer, platform.wallMs() + limits.windowMs);
    case "parked":
      return problemResponse("outcome-unknown");
    case "lost": {
      // What whoever took over has recorded is this request's answer, too.
      const record = await keys.read(id);
      if (record?.state !== "completed" || record.outcome === null) return problemResponse("in-flight");
      const { outcome, completedAt, endsAt } = record;
      return toldResponse({ kind: "duplicate", outcome, completedAt: completedAt ?? 0, endsAt });
    }
    case "left": {
      const problem = problemOf(end.error);
      if (problem !== null) return problem;
      throw end.error;
    }
  }
}
