// GET /api/runs/:run/effects: what its steps did to systems outside, under which keys, with their receipts.
import { z } from "zod";
import { type DestinationName, destination, destinationNames } from "../../../dedup/destinations.ts";
import type { Engine } from "../../../engine/engine.ts";
import { type Effect, effectOf, effectScope, readAsked } from "../../../model/effect.ts";
import { errors } from "../../../model/errors.ts";
import { hashStepId } from "../../../model/step-id.ts";
import { apiRoute } from "../../api/api-route.ts";
import { shownInputBytesMax } from "../../api/run-shape.ts";

const effectItem = z.object({
  id: z.string(),
  stepId: z.string().describe("The step's id in the run's timeline"),
  step: z.string().describe("As its author wrote it, `:n` for a repeat"),
  destination: z.string(),
  entity: z.string().describe("What it is about"),
  key: z.string().describe("As it was sent; for a destination that takes none, a mark to look it up by"),
  isKeyed: z.boolean().describe("False for a destination that takes no keys"),
  state: z.enum(["sent", "in-flight", "unknown", "parked"]),
  receipt: z.string().nullable().describe("What the destination calls it"),
  firstTriedAt: z.number().int(),
  tries: z.number().int(),
  settledAt: z.number().int().nullable(),
  settledBy: z.enum(["answer", "reconcile", "person"]).nullable(),
  reason: z.string().nullable(),
});

export const listRunEffects = apiRoute({
  method: "GET",
  path: "/api/runs/:run/effects",
  summary: "List what a run's steps did to systems outside",
  tag: "runs",
  answer: z.object({
    effects: z.array(effectItem),
  }),
  handle: async ({ params, engine, env }) => {
    const runId = params.run!;
    if ((await engine.store.reads.run(env, runId)) === null) throw errors.RUN_UNKNOWN({ runId });
    const effects = await effectsOfRun(engine, env, runId);
    return {
      effects: effects.map(({ runId: _, ...effect }) => ({
        ...effect,
        stepId: hashStepId(effect.step, 0),
        isKeyed: isKeyed(effect.destination),
      })),
    };
  },
});

// A destination described by an author takes a key: it is described for that.
const isKeyed = (name: string): boolean => {
  const known = destinationNames.find((each) => each === name);
  return known === undefined || destination(known as DestinationName).place !== null;
};

/** The inputs of its steps say where each claim lies: no other effect is looked at. */
async function effectsOfRun(engine: Engine, env: string, runId: string): Promise<Effect[]> {
  const { reads } = engine.store;
  const given = await reads.stepInputs(env, runId, shownInputBytesMax);
  const asked = given.flatMap(({ input }) => (input === null ? [] : (readAsked(input) ?? [])));
  const claims = await Promise.all(
    asked.map(({ destination: name, entity, key }) => reads.claim(env, effectScope(name, entity), key)),
  );
  return (
    claims
      .flatMap((claim) => (claim === null ? [] : (effectOf(claim, engine.now()) ?? [])))
      // A rerun that was answered with what another run had made did nothing itself.
      .filter((effect) => effect.runId === runId)
      .sort((a, b) => a.firstTriedAt - b.firstTriedAt)
  );
}
