// A function is asked for by any name it has or had, and answered with the one it has today; rows have the first one it ever had. The
// answer's schema says what is a function's name in it: payloads of users are never looked into.
import type { z } from "zod";
import type { Registry } from "../../engine/registry.ts";

type Names = Pick<Registry, "hasRenamed" | "get" | "fullName">;
type Fields = Readonly<Record<string, unknown>>;

const scopePrefix = "fn:";

/** A caller's input (a query, a body, the parameters of a path), by the names that rows have. */
export function recordedNamesIn<T>(given: T, names: Names): T {
  if (!names.hasRenamed) return given;
  const fields = given as Fields;
  const read = Object.entries(fields).map(([name, value]): [string, unknown] => {
    if (name === "filter" && typeof value === "object" && value !== null) return [name, recordedNamesIn(value, names)];
    if (typeof value !== "string") return [name, value];
    if (name === "function" || name === "fn") return [name, names.get(value)?.fn ?? value];
    if (name !== "scope" || !value.startsWith(scopePrefix)) return [name, value];
    const fn = value.slice(scopePrefix.length);
    return [name, `${scopePrefix}${names.get(fn)?.fn ?? fn}`];
  });
  return Object.fromEntries(read) as T;
}

/** An answer, by the names of today. */
export const namesOfToday = <T>(answer: T, schema: z.ZodType, names: Names): T =>
  names.hasRenamed ? (shown(answer, schema, "", names) as T) : answer;

interface Def {
  readonly type: string;
  readonly innerType?: z.ZodType;
  readonly element?: z.ZodType;
  readonly valueType?: z.ZodType;
  readonly shape?: Readonly<Record<string, z.ZodType>>;
  readonly options?: readonly z.ZodType[];
}

function shown(value: unknown, schema: z.ZodType, name: string, names: Names): unknown {
  const def = schema._zod.def as unknown as Def;
  if (typeof value === "string") return isText(def) ? shownText(value, name, names) : value;
  if (typeof value !== "object" || value === null) return value;
  if (def.innerType !== undefined) return shown(value, def.innerType, name, names);
  if (def.options !== undefined) {
    const found = def.options.find((option) => option.safeParse(value).success);
    return found === undefined ? value : shown(value, found, name, names);
  }
  if (Array.isArray(value)) {
    const { element } = def;
    return element === undefined ? value : value.map((each) => shown(each, element, name, names));
  }
  const { shape, valueType } = def;
  const entries = Object.entries(value).map(([field, each]): [string, unknown] => {
    const inner = valueType ?? (shape !== undefined && Object.hasOwn(shape, field) ? shape[field] : undefined);
    return [field, inner === undefined ? each : shown(each, inner, field, names)];
  });
  return Object.fromEntries(entries);
}

function isText({ type, innerType, options }: Def): boolean {
  if (innerType !== undefined) return isText(innerType._zod.def as unknown as Def);
  return type === "string" || (options?.some((each) => isText(each._zod.def as unknown as Def)) ?? false);
}

function shownText(value: string, name: string, names: Names): string {
  if (name === "function" || name === "functions") return names.fullName(value);
  if (name !== "scope" || !value.startsWith(scopePrefix)) return value;
  return `${scopePrefix}${names.fullName(value.slice(scopePrefix.length))}`;
}
