// /api/radar/rules: what counts as too often. The default rule can be changed and muted, never removed.
import { z } from "zod";
import { errors } from "../../../model/errors.ts";
import { watchedClosely } from "../../../radar/close-watch.ts";
import { defaultRule, makeRule, type RadarRule, readRules, ruleKind, rulesMax } from "../../../radar/rules.ts";
import type { Store } from "../../../store/store.ts";
import { apiRoute } from "../../api/api-route.ts";
import { reasonField } from "../../api/reason.ts";
import { ruleItem, ruleItemOf } from "../../radar/alert-shape.ts";

const tag = "radar";
const rulesIn = async (store: Store, env: string) => readRules(await store.reads.settings(env, ruleKind));

export const listRules = apiRoute({
  method: "GET",
  path: "/api/radar/rules",
  summary: "List the radar's rules, the default one first, and what is watched closely",
  tag,
  answer: z.object({
    rules: z.array(ruleItem),
    watchedClosely: z
      .array(z.object({ what: z.enum(["function", "source"]), name: z.string(), until: z.number().int() }))
      .describe("Functions and sources of webhooks in their first seven days: weak signs count too"),
  }),
  handle: async ({ engine, env, now }) => ({
    rules: (await rulesIn(engine.store, env)).map(ruleItemOf),
    watchedClosely: (await watchedClosely(engine.store.reads, env, now)).map((each) => ({ ...each })),
  }),
});

export const putRule = apiRoute({
  method: "PUT",
  path: "/api/radar/rules/:rule",
  summary: "Make a rule, or change one: what is not given stays",
  tag,
  body: {
    more: z.number().int().optional(),
    what: z.enum(["runs", "events", "effects"]).optional(),
    of: z
      .string()
      .max(512)
      .optional()
      .describe('"key", or a field such as event.data.placementId; effects are counted by "entity"'),
    within: z.string().max(32).optional().describe('From "1s" to "1h"'),
    function: z.string().min(1).max(256).nullable().optional(),
    muted: z.boolean().optional(),
    reason: reasonField.describe("Why; kept in the audit"),
  },
  answer: z.object({ rule: ruleItem }),
  handle: async ({ params, body, engine, env, actor }) => {
    const { reason, ...input } = body;
    const rules = await rulesIn(engine.store, env);
    const known = rules.find(({ name }) => name === params.rule);
    if (known === undefined && rules.length >= rulesMax) {
      throw errors.REQUEST_INVALID({ why: `there are ${rulesMax} rules, which is the most an environment can have` });
    }
    const rule: RadarRule = makeRule(params.rule!, input, known);
    const setting = { env, kind: ruleKind, name: rule.name, over: null, reason, actor: actor.name };
    await engine.store.set({ ...setting, value: JSON.stringify(rule) });
    return { rule: ruleItemOf(rule) };
  },
});

export const removeRule = apiRoute({
  method: "DELETE",
  path: "/api/radar/rules/:rule",
  summary: "Remove a rule; its alerts stay",
  tag,
  body: { reason: reasonField.describe("Why; kept in the audit") },
  answer: z.object({ removed: z.string() }),
  handle: async ({ params, body, engine, env, actor }) => {
    const name = params.rule!;
    if (name === defaultRule.name) throw errors.RULE_KEPT({ rule: name });
    if (!(await rulesIn(engine.store, env)).some((rule) => rule.name === name))
      throw errors.RULE_UNKNOWN({ rule: name });
    await engine.store.set({
      env,
      kind: ruleKind,
      name,
      value: null,
      over: null,
      reason: body.reason,
      actor: actor.name,
    });
    return { removed: name };
  },
});
