// /api/radar/suggestions/:function: the key a function should have, with what speaks for it; and what people say to it.
import { z } from "zod";
import type { Engine } from "../../../engine/engine.ts";
import { errors } from "../../../model/errors.ts";
import {
  readRefusedKeys,
  refusedFor,
  refusedKeyKind,
  refusedKeyName,
  refusedKeysMax,
} from "../../../radar/refused-keys.ts";
import { suggestKey } from "../../../radar/suggest-key.ts";
import { apiRoute } from "../../api/api-route.ts";
import { reasonField } from "../../api/reason.ts";

const tag = "radar";

const answer = z.object({
  function: z.string(),
  expression: z.string().nullable().describe("Null where nothing ran twice or no field will do"),
  line: z.string().nullable().describe("To be pasted into the function's options"),
  keyExpression: z.string().nullable().describe("The key it has"),
  runCount: z.number().int(),
  suppressedCount: z.number().int().describe("How many of the runs the key would have answered with an earlier one"),
  entityCount: z.number().int(),
  presentCount: z.number().int().describe("In how many of the runs the expression had a value"),
  differs: z.array(z.string()),
  evidence: z.array(z.string()).describe("What speaks for it, in sentences"),
  refused: z.array(z.object({ expression: z.string(), why: z.enum(["too-wide", "too-narrow", "not-always-there"]) })),
  leftOut: z
    .array(z.object({ expression: z.string(), reason: z.string(), by: z.string(), at: z.number().int() }))
    .describe("What people said no to; not offered again until it is taken back"),
});

function findFunction(engine: Engine, name: string) {
  const target = engine.registry.find(name);
  if (target === null) throw errors.FUNCTION_UNKNOWN({ function: name });
  return target;
}

async function suggestFor(engine: Engine, env: string, name: string, now: number): Promise<z.input<typeof answer>> {
  const { fn, config } = findFunction(engine, name);
  const about = { name: fn, keyExpression: config.idempotency?.key ?? null };
  const { differs, evidence, refused, leftOut, ...rest } = await suggestKey(engine.store, env, fn, about, now);
  return {
    function: fn,
    ...rest,
    differs: [...differs],
    evidence: [...evidence],
    refused: refused.map((each) => ({ ...each })),
    leftOut: leftOut.map(({ fn: _, ...each }) => each),
  };
}

export const readSuggestion = apiRoute({
  method: "GET",
  path: "/api/radar/suggestions/:function",
  summary: "Suggest a key for a function, from its newest runs of seven days",
  tag,
  answer,
  handle: ({ params, engine, env, now }) => suggestFor(engine, env, params.function!, now),
});

const body = {
  expression: z.string().min(1).max(512).describe("The key that was suggested"),
  reason: reasonField.describe("Why; kept with the refusal and in the audit"),
};

export const refuseSuggestion = apiRoute({
  method: "POST",
  path: "/api/radar/suggestions/:function/refuse",
  summary: "Say no to a suggested key: it is not offered again, and the next best is",
  tag,
  body,
  answer,
  handle: async ({ params, body: { expression, reason }, engine, env, now, actor }) => {
    const { fn } = findFunction(engine, params.function!);
    const known = refusedFor(readRefusedKeys(await engine.store.reads.settings(env, refusedKeyKind)), fn);
    // Said again it is the same refusal, with the reason that was given first.
    if (!known.some((each) => each.expression === expression)) {
      if (known.length >= refusedKeysMax) {
        throw errors.REQUEST_INVALID({
          why: `${refusedKeysMax} keys of it are refused, which is the most there can be`,
        });
      }
      const key = { fn, expression, reason, by: actor.name, at: now };
      const setting = { env, kind: refusedKeyKind, name: refusedKeyName(key), over: null, reason, actor: actor.name };
      await engine.store.set({ ...setting, value: JSON.stringify(key) });
    }
    return suggestFor(engine, env, fn, now);
  },
});

export const restoreSuggestion = apiRoute({
  method: "POST",
  path: "/api/radar/suggestions/:function/restore",
  summary: "Take back a no: the key may be suggested again",
  tag,
  body,
  answer,
  handle: async ({ params, body: { expression, reason }, engine, env, now, actor }) => {
    const { fn } = findFunction(engine, params.function!);
    const setting = { env, kind: refusedKeyKind, name: refusedKeyName({ fn, expression }), value: null, over: null };
    await engine.store.set({ ...setting, reason, actor: actor.name });
    return suggestFor(engine, env, fn, now);
  },
});
