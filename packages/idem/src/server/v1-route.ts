// Common to the routes of /v1 for people: a signing key opens them, answers stand in an envelope, errors are as SDKs read them
// (docs/reference/wire.md#reading).
import { z } from "zod";
import type { Engine } from "../engine/engine.ts";
import { errors } from "../model/errors.ts";
import type { Run } from "../model/run.ts";
import { findEvent } from "../observe/find-event.ts";
import { type RestEnvelope, restEnvelope } from "../protocol/rest-shapes.ts";
import type { DescribedRoute } from "./api/api-route.ts";
import { readBody, readQuery } from "./read-input.ts";
import { engineFor } from "./read-shares.ts";
import { json, type Route } from "./route.ts";
import type { World } from "./world.ts";

type Shape = Readonly<Record<string, z.ZodType>>;
type Read<S extends Shape> = z.output<z.ZodObject<S>>;

export interface V1Call<Q extends Shape, B extends Shape> {
  readonly query: Read<Q>;
  readonly body: Read<B>;
  readonly params: Readonly<Record<string, string>>;
  readonly env: string;
  readonly engine: Engine;
  readonly now: number;
  readonly world: World;
  /** The caller's name in the audit. */
  readonly actor: string;
}

const bodyBytesMax = 64 * 1024;

export function v1Route<
  const M extends Route["method"],
  const P extends string,
  Q extends Shape = Record<never, never>,
  B extends Shape = Record<never, never>,
  Data = unknown,
>(route: {
  readonly method: M;
  readonly path: P;
  readonly query?: Q;
  readonly body?: B;
  /** Undefined for done, with nothing to say. */
  handle(call: V1Call<Q, B>): Promise<Data> | Data;
}): DescribedRoute<M, P, z.input<z.ZodObject<Q>>, z.input<z.ZodObject<B>>, RestEnvelope<Data>> {
  const { method, path } = route;
  // Tools written for other servers may send fields we do not know; those are passed over.
  const query = z.object((route.query ?? {}) as Q);
  const body = z.object((route.body ?? {}) as B);
  return {
    method,
    path,
    access: "signing-key",
    bodyBytesMax: route.body === undefined ? null : bodyBytesMax,
    errors: "wire",
    handle: async (request, world) => {
      const given = {
        query: readQuery(query, request.query) as Read<Q>,
        body: (route.body === undefined ? {} : readBody(body, request)) as Read<B>,
      };
      const { env, params } = request;
      const actor = request.actor.name;
      const engine = engineFor(request.actor, await world.engine(env), world);
      const now = engine.now();
      const data = await route.handle({ ...given, params, env, engine, now, world, actor });
      return data === undefined ? { status: 204, body: null } : json(restEnvelope(data, now));
    },
  };
}

/** Throws RUN_UNKNOWN. */
export async function runIn({ store, env }: Engine, runId: string): Promise<Run> {
  const run = await store.reads.run(env, runId);
  if (run === null) throw errors.RUN_UNKNOWN({ runId });
  return run;
}

/** By its stored id, or its sender's; throws SUBJECT_UNKNOWN. */
export async function eventIn(engine: Engine, id: string) {
  const event = await findEvent(engine, id);
  if (event === null) throw errors.SUBJECT_UNKNOWN({ id });
  return event;
}
