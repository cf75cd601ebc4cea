// Events by name: which functions each starts, and what an app said about its data.
import { z } from "zod";
import type { Engine } from "../../engine/engine.ts";
import { reachedNames } from "../../model/data-schemas.ts";
import { errors } from "../../model/errors.ts";
import { type FunctionConfig, isWildcard } from "../../model/function-config.ts";
import { isOwnEvent } from "../../model/own-events.ts";
import { examinedMax } from "./paging.ts";

export const eventType = z.object({
  name: z.string(),
  schema: z
    .record(z.string(), z.unknown())
    .nullable()
    .describe("JSON Schema of its data; where apps differ, that of the first of `functions` that has one"),
  functions: z.array(z.string()).describe("The functions it starts, perhaps after a filter"),
});
export type EventType = z.infer<typeof eventType>;

// Names nobody gave to a trigger are worth proposing only while they are fresh.
const recentMax = 200;

/** With `fn`, those that start that function; throws FUNCTION_UNKNOWN. */
export async function eventTypesIn({ store, env }: Engine, fn: string | null): Promise<EventType[]> {
  const { functions } = await store.reads.functions(env);
  const configs = functions
    .filter((each) => fn === null || each.fn === fn)
    .map((each) => ({ fn: each.fn, config: JSON.parse(each.config) as FunctionConfig }));
  if (fn !== null && configs.length === 0) throw errors.FUNCTION_UNKNOWN({ function: fn });
  const recent = fn === null ? (await store.reads.eventPage(env, { limit: recentMax, examinedMax })).rows : [];
  const names = new Set([...configs.flatMap(({ config }) => namedBy(config)), ...recent.map(({ name }) => name)]);
  return [...names]
    .filter((name) => !isOwnEvent(name))
    .sort()
    .map((name) => {
      const started = configs.filter(({ config }) => reachedNames(config.triggers, [name]).length > 0);
      const [text] = started.flatMap(({ config: { dataSchemas = {} } }) =>
        Object.hasOwn(dataSchemas, name) ? [dataSchemas[name]!] : [],
      );
      return {
        name,
        schema: text === undefined ? null : (JSON.parse(text) as Record<string, unknown>),
        functions: started.map((each) => each.fn),
      };
    });
}

const namedBy = ({ triggers, dataSchemas = {} }: FunctionConfig): string[] => [
  ...triggers.flatMap((trigger) => ("event" in trigger && !isWildcard(trigger.event) ? [trigger.event] : [])),
  ...Object.keys(dataSchemas),
];
