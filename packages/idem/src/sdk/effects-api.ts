// idem.effects: the effects of steps on systems outside, and a person's word on those whose outcome is unknown.
import type { Engine } from "../engine/engine.ts";
import type { Claim } from "../model/claim.ts";
import { parseDuration } from "../model/duration.ts";
import { claimOfEffect, type Effect, effectOf, effectScope, effectScopes, outcomeText } from "../model/effect.ts";
import { errors } from "../model/errors.ts";
import { toJson } from "../model/json.ts";
import { readLimit } from "./reads-api.ts";

export interface EffectsFilter {
  readonly destination?: string;
  readonly entity?: string;
  /** Only those that wait for a person. */
  readonly parked?: boolean;
  readonly runId?: string;
  /** Continue after the effect of this id. */
  readonly after?: string;
  readonly limit?: number;
}

/** More than one effect of one destination for one entity. */
export interface DoubledEffects {
  readonly destination: string;
  readonly entity: string;
  /** The first first. */
  readonly effects: readonly Effect[];
}

/** The word of a person who looked: it happened, and this is its receipt; or it surely did not, and may be sent. */
export type EffectVerdict = { readonly receipt: string; readonly value?: unknown } | "retry";

export interface EffectsApi {
  /** In the order of their ids: by destination and entity. Continue with the last id as `after`. */
  list(filter?: EffectsFilter): Promise<readonly Effect[]>;
  /** Entities with several effects at one destination, no further apart than `within` ("30d"). */
  doubled(options: {
    readonly within: string | number;
    readonly destination?: string;
    readonly limit?: number;
  }): Promise<readonly DoubledEffects[]>;
  /**
   * Settles an effect whose outcome is unknown; rerun its run from the step afterwards. Without `value` the step's value is
   * `{ id: receipt }`; the reason is kept with the receipt.
   */
  resolve(
    id: string,
    verdict: EffectVerdict,
    options?: { readonly reason?: string },
  ): Promise<{ readonly id: string; readonly state: "sent" | "released" }>;
}

// Rows of one read: others wait while it lasts.
const pageRows = 500;

export function effectsApi(engineOf: () => Promise<Engine>): EffectsApi {
  return {
    async list(filter = {}) {
      const limit = readLimit(filter.limit);
      const engine = await engineOf();
      const found: Effect[] = [];
      for await (const effect of effectsIn(engine, filter)) {
        if (filter.entity !== undefined && effect.entity !== filter.entity) continue;
        if (filter.runId !== undefined && effect.runId !== filter.runId) continue;
        if (filter.parked === true && effect.state !== "parked") continue;
        found.push(effect);
        if (found.length === limit) break;
      }
      return found;
    },

    async doubled(options) {
      const withinMs = parseDuration(options?.within, "within");
      const limit = readLimit(options.limit);
      const doubled: DoubledEffects[] = [];
      let group: Effect[] = [];
      const close = () => {
        for (const effects of nearEachOther(group, withinMs)) {
          const { destination, entity } = effects[0]!;
          doubled.push({ destination, entity, effects });
        }
        group = [];
      };
      const { destination } = options;
      for await (const effect of effectsIn(await engineOf(), destination === undefined ? {} : { destination })) {
        const last = group[0];
        // In the order of scopes: an entity's effects come one after the other.
        if (last !== undefined && (last.destination !== effect.destination || last.entity !== effect.entity)) close();
        if (doubled.length >= limit) break;
        group.push(effect);
      }
      close();
      return doubled.slice(0, limit);
    },

    async resolve(id, verdict, { reason = "" } = {}) {
      const { store, env, now } = await openOf(engineOf);
      const place = claimOfEffect(String(id));
      const claim = place === null ? null : await store.reads.claim(env, place.scope, place.key);
      const effect = claim === null ? null : effectOf(claim, now);
      if (claim === null || effect === null) throw errors.EFFECT_UNKNOWN({ effect: String(id).slice(0, 512) });
      const closed = (why: string) => errors.EFFECT_NOT_OPEN({ effect: id, why });
      if (effect.state === "sent") throw closed(`it is settled, with the receipt ${effect.receipt ?? "(none)"}`);
      if (effect.state === "in-flight") throw closed(`run ${effect.runId} is at it`);
      const { scope, key, fence } = claim;
      if (verdict === "retry") {
        // By the fence it was seen with: taken meanwhile, it stays with its new holder.
        const answer = await store.release({ env, scope, key, fence, reason });
        if (answer !== "released") throw closed("somebody took it up meanwhile");
        return { id, state: "released" };
      }
      const { receipt } = verdict ?? {};
      if (typeof receipt !== "string" || receipt === "") {
        throw errors.OPTION_INVALID({ option: "verdict", why: 'it must be { receipt: "…" } or "retry"' });
      }
      const value = toJson(verdict.value === undefined ? { id: receipt } : verdict.value, `The value of effect ${id}`);
      const { runId, step, tries } = effect;
      const said = reason === "" ? {} : { reason };
      const outcome = outcomeText({ runId, step, receipt, value, by: "person", at: now, tries, ...said });
      if ((await store.settle(env, scope, key, fence, outcome)) === "lost") {
        throw closed("somebody took it up meanwhile");
      }
      return { id, state: "sent" };
    },
  };
}

async function openOf(engineOf: () => Promise<Engine>) {
  const engine = await engineOf();
  return { store: engine.store, env: engine.env, now: engine.now() };
}

async function* effectsIn(
  engine: Engine,
  { destination, entity, after: id }: Pick<EffectsFilter, "destination" | "entity" | "after">,
): AsyncGenerator<Effect> {
  const place = id === undefined ? null : claimOfEffect(id);
  if (id !== undefined && place === null) {
    throw errors.OPTION_INVALID({ option: "after", why: "it must be the id of an effect" });
  }
  const where =
    destination === undefined
      ? { under: effectScopes }
      : entity === undefined
        ? { under: effectScope(destination, "") }
        : { scope: effectScope(destination, entity) };
  for (let after: Pick<Claim, "scope" | "key"> | null = place; ; ) {
    const claims = await engine.store.reads.claims(engine.env, {
      ...where,
      ...(after === null ? {} : { after }),
      limit: pageRows,
    });
    const now = engine.now();
    for (const claim of claims) {
      const effect = effectOf(claim, now);
      if (effect !== null) yield effect;
    }
    if (claims.length < pageRows) return;
    const { scope, key } = claims.at(-1)!;
    after = { scope, key };
  }
}

/** Of one entity: those that follow one another within the time, two or more. */
function nearEachOther(effects: readonly Effect[], withinMs: number): Effect[][] {
  const inOrder = [...effects].sort((a, b) => a.firstTriedAt - b.firstTriedAt || (a.runId < b.runId ? -1 : 1));
  const groups: Effect[][] = [];
  for (const effect of inOrder) {
    const last = groups.at(-1)?.at(-1);
    if (last !== undefined && effect.firstTriedAt - last.firstTriedAt <= withinMs) groups.at(-1)!.push(effect);
    else groups.push([effect]);
  }
  return groups.filter((group) => group.length > 1);
}

/** For a client whose store is at a server. */
export const unreachedEffects: EffectsApi = {
  list: async () => unsupported("idem.effects.list"),
  doubled: async () => unsupported("idem.effects.doubled"),
  resolve: async () => unsupported("idem.effects.resolve"),
};

function unsupported(call: string): never {
  throw errors.EFFECT_UNSUPPORTED({ call });
}
