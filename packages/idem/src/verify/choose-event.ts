// Which event starts a function that is verified. Pure.
import { reachedNames } from "../model/data-schemas.ts";
import { exampleIn, sampleOf } from "./sample-of-schema.ts";
import type { Json } from "./thing.ts";
import type { WrittenEvent } from "./verify-configuration.ts";
import type { DescribedFunction } from "./worker/messages.ts";

export interface ChosenEvent extends WrittenEvent {
  /** For people: "from the store, run 01M7…". */
  readonly from: string;
  /** It happened: its values are not shown. */
  readonly isReal: boolean;
  /** Another one that is taken for the same thing. */
  readonly second?: WrittenEvent & { readonly apartMs: number };
}

/** The first of these that reaches the function. */
export function reaching(fn: DescribedFunction, events: readonly ChosenEvent[]): ChosenEvent | null {
  const names = new Set(
    reachedNames(
      fn.config.triggers,
      events.map(({ name }) => name),
    ),
  );
  return events.find(({ name }) => names.has(name)) ?? null;
}

/** From the schemas of its events: what their author gave as an example, and with `isMadeUp` what can be made up. */
export function eventOfSchema(fn: DescribedFunction, isMadeUp: boolean): ChosenEvent | null {
  const schemas = Object.entries(fn.config.dataSchemas ?? {}).map(
    ([name, text]) => [name, JSON.parse(text) as Json] as const,
  );
  for (const [name, schema] of schemas) {
    const data = exampleIn(schema);
    if (data !== null) return { name, data, from: "its schema's example", isReal: false };
  }
  if (!isMadeUp) return null;
  for (const [name, schema] of schemas) {
    const data = sampleOf(schema);
    if (data !== undefined) return { name, data, from: "made up from its schema", isReal: false };
  }
  // Without a schema it is unknown what it needs: an empty event would be praised for doing nothing.
  return null;
}
