// GET /api/runs/:run/effects: what its steps did to systems outside, under which keys, with their receipts.
import { z } from "zod";
import { type DestinationName, destination, destinationNames } from "../../dedup/destinations.ts";
import type { Engine } from "../../engine/engine.ts";
import type { Claim } from "../../model/claim.ts";
import { type Effect, effectOf, effectScopes } from "../../model/effect.ts";
import { errors } from "../../model/errors.ts";
import { hashStepId } from "../../model/step-id.ts";
import { apiRoute } from "../api/api-route.ts";
import { effectItem } from "../api/effect-shape.ts";

export const listRunEffects = apiRoute({
  method: "GET",
  path: "/api/runs/:run/effects",
  summary: "List what a run's steps did to systems outside",
  tag: "runs",
  answer: z.object({
    effects: z.array(effectItem),
    isAll: z.boolean().describe("False when the store holds more effects than one answer may look through"),
  }),
  handle: async ({ params, engine, env }) => {
    const runId = params.run!;
    if ((await engine.store.reads.run(env, runId)) === null) throw errors.RUN_UNKNOWN({ runId });
    const { effects, isAll } = await effectsOfRun(engine, env, runId);
    return {
      effects: effects.map(({ runId: _, ...effect }) => ({
        ...effect,
        stepId: hashStepId(effect.step, 0),
        isKeyed: isKeyed(effect.destination),
      })),
      isAll,
    };
  },
});

// Whoever is described by an author takes a key: it is what they are described for.
const isKeyed = (name: string): boolean => {
  const known = destinationNames.find((each) => each === name);
  return known === undefined || destination(known as DestinationName).place !== null;
};

// Effects are kept by destination and entity, not by run. As many as any page of the API looks at.
const examinedMax = 10_000;
const pageRows = 500;
// A run keeps at most 1,000 steps.
const effectsMax = 1_000;

async function effectsOfRun(engine: Engine, env: string, runId: string) {
  const effects: Effect[] = [];
  let after: Pick<Claim, "scope" | "key"> | null = null;
  for (let examined = 0; examined < examinedMax && effects.length < effectsMax; examined += pageRows) {
    const claims: readonly Claim[] = await engine.store.reads.claims(env, {
      under: effectScopes,
      ...(after === null ? {} : { after }),
      limit: pageRows,
    });
    const now = engine.now();
    for (const claim of claims) {
      const effect = claim.outcome?.includes(runId) === true ? effectOf(claim, now) : null;
      if (effect?.runId === runId) effects.push(effect);
    }
    if (claims.length < pageRows) return { effects, isAll: true };
    const { scope, key } = claims.at(-1)!;
    after = { scope, key };
  }
  return { effects, isAll: false };
}
