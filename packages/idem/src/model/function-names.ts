// The names of a function (docs/states.md#a-functions-name). It is recorded under the first one it ever had, `fn`: rows, keys, windows, limits and
// schedules carry that one for ever. People read the one it has today.
import type { FormerIds } from "./former-ids.ts";
import { type FunctionConfig, functionSlug } from "./function-config.ts";

/** An app, as its author calls it today and called it before. */
export interface AppNames {
  readonly id: string;
  readonly was: FormerIds | null;
}

/** The app that rows of its functions name. */
export const recordedApp = ({ id, was }: AppNames): string => was?.[0] ?? id;

/** A function as it is registered. `app` is the recorded one. */
export interface NamedFunction {
  readonly fn: string;
  readonly app: string;
  readonly config: Pick<FunctionConfig, "id" | "app" | "was">;
}

/** The names in its configuration; nothing for one that was never renamed. */
export function namesOf(app: AppNames, id: string, was: FormerIds | null): Pick<FunctionConfig, "app" | "was"> {
  if (app.was === null && was === null) return {};
  const apps = app.was ?? [app.id];
  const ids = was ?? [id];
  const names = apps.flatMap((each) => ids.map((former) => functionSlug(each, former)));
  return { app: app.id, was: names };
}

/** The app as people call it. */
export const shownApp = ({ app, config }: Pick<NamedFunction, "app" | "config">): string => config.app ?? app;

/** `<app>-<id>` as people call it. */
export const shownName = (named: Pick<NamedFunction, "app" | "config">): string =>
  functionSlug(shownApp(named), named.config.id);

/** Every name that rows may have it under, the one that new rows get first. */
export const recordedNames = ({ fn, config }: Pick<NamedFunction, "fn" | "config">): readonly string[] =>
  config.was ?? [fn];

/** Every name it answers to. */
export const allNames = (named: NamedFunction): readonly string[] => [
  ...new Set([...recordedNames(named), shownName(named)]),
];

/** The first of `others` that answers to a name of this one, with that name: there is no telling which of them it means. */
export function nameShared<Other extends NamedFunction>(
  named: NamedFunction,
  others: readonly Other[],
): { readonly other: Other; readonly name: string } | null {
  const own = allNames(named);
  for (const other of others) {
    const theirs = new Set(allNames(other));
    const name = own.find((each) => theirs.has(each));
    if (name !== undefined) return { other, name };
  }
  return null;
}

/**
 * Finds what the store has of a renamed function under a name that its code does not list: runs, windows and schedules there would be left
 * behind. `living` are the registered ones, `own` all functions of this registration.
 */
export function leftBehind<Row extends NamedFunction>(
  named: NamedFunction,
  own: readonly NamedFunction[],
  living: readonly Row[],
): { readonly row: Row; readonly why: string } | null {
  if (named.config.was === undefined) return null;
  const names = allNames(named);
  const claimed = new Set(own.flatMap((each) => recordedNames(each)));
  for (const row of living) {
    if (claimed.has(row.fn) || (row.app !== named.app && row.app !== shownApp(named))) continue;
    const shared = allNames(row).find((name) => names.includes(name));
    if (shared === undefined) continue;
    const first = row.fn === shownName(named) ? "lists it too, last" : "begins with it";
    const why = `the store has "${shared}" under "${row.fn}", which \`was\` does not name: what is recorded there would be left behind unless \`was\` ${first}`;
    return { row, why };
  }
  return null;
}

/** As it was registered. */
export const namedOf = ({
  fn,
  app,
  config,
}: {
  readonly fn: string;
  readonly app: string;
  readonly config: string;
}): NamedFunction & { readonly config: FunctionConfig } => ({ fn, app, config: JSON.parse(config) as FunctionConfig });
