// The fate of what waits under a function's names: its code says what it was called (`was`), the store has it under a name that is not said, or it was
// probably renamed and nobody said so. Pure.
import type { FunctionConfig } from "../../model/function-config.ts";
import { leftBehind, type NamedFunction, recordedNames, shownApp, shownName } from "../../model/function-names.ts";
import type { Change, Windows } from "./changes.ts";

type Registered = NamedFunction & { readonly config: FunctionConfig };

export interface WaitingUnder {
  readonly name: string;
  readonly open: number;
  /** Events that wait to be decided. */
  readonly pending: number;
  readonly windows: Windows;
  readonly crons: number;
}

/** The probable name of a stored function in the new code, and the code that says so. */
export interface NowCalled {
  readonly name: string;
  readonly mend: string;
}

/** Null for one that the new code has, and where nothing new is like it. */
export function renamedTo(
  fn: string,
  registered: readonly Registered[],
  functions: readonly Registered[],
): NowCalled | null {
  const row = registered.find((each) => each.fn === fn);
  if (row === undefined || functions.some((each) => recordedNames(each).includes(fn))) return null;
  const fresh = functions.filter((each) => !registered.some((other) => recordedNames(each).includes(other.fn)));
  const alike = fresh.filter((each) => each.app === row.app && isAlike(row, each));
  const same = alike.find((each) => each.config.id === row.config.id) ?? alike[0];
  if (same !== undefined) {
    const ids = [fn.slice(row.app.length + 1), row.config.id].filter((id, i, all) => all.indexOf(id) === i);
    const was = ids.filter((id) => id !== same.config.id);
    return { name: same.config.id, mend: `{ id: ${text(same.config.id)}, was: ${listText(was)} }` };
  }
  // An app of which the store has nothing, with all functions of one that is gone: the app was renamed.
  const moved = fresh.find(
    ({ app, config }) =>
      config.id === row.config.id &&
      !registered.some((each) => each.app === app || shownApp(each) === app) &&
      idsOf(registered, row.app).every((id) => idsOf(functions, app).includes(id)),
  );
  if (moved === undefined) return null;
  const was = [row.app, shownApp(row)].filter((app, i, all) => all.indexOf(app) === i);
  const mend = `new Idem({ id: ${text(shownApp(moved))}, was: ${listText(was)} })`;
  return { name: shownName(moved), mend };
}

/** Something starts both, or the id is the one people had for it. */
function isAlike(row: Registered, each: Registered): boolean {
  if (row.config.id === each.config.id) return true;
  const starts = ({ config }: Registered) => config.triggers.map((one) => ("cron" in one ? one.cron : one.event));
  // Events about ended runs start many functions.
  return starts(row).some((start) => !start.startsWith("inngest/") && starts(each).includes(start));
}

const idsOf = (functions: readonly Registered[], app: string): string[] =>
  functions.filter((each) => each.app === app).map(({ config }) => config.id);

const text = (value: string): string => JSON.stringify(value);
const listText = (all: readonly string[]): string => (all.length === 1 ? text(all[0]!) : JSON.stringify(all));

/** Of a function whose code says what it was. */
export function nameChanges(
  named: Registered & { readonly handlesEnd: boolean },
  functions: readonly NamedFunction[],
  registered: readonly Registered[],
  under: readonly WaitingUnder[],
): Change[] {
  const [first, ...others] = under;
  if (first === undefined) return [];
  const behind = leftBehind(named, functions, registered);
  const changes: Change[] = [];
  if (behind !== null) {
    const becomes = `${behind.why}. The new code is refused at its start (FUNCTION_WAS_CONFLICT)`;
    changes.push(change(behind.row.fn, first.name, becomes, { waiting: 0, until: null, isRisk: true }));
  }
  const before = registered.find(({ fn }) => fn === first.name);
  const isKnown = before !== undefined || under.some((each) => countOf(each) > 0);
  if (!isKnown && behind === null && !named.handlesEnd) {
    const becomes = `the store has nothing under ${text(first.name)}, so nothing is left behind; from now on it is recorded under that name`;
    changes.push(change(first.name, shownName(named), becomes, { waiting: 0, until: null, isRisk: false }));
  }
  // A handler of a function's ends is renamed with it: that is nothing new.
  const isTold = !named.handlesEnd || countOf(first) > 0;
  if (before !== undefined && shownName(before) !== shownName(named) && isTold) {
    const becomes = `it stays recorded under ${text(first.name)}: ${whatWaits(first)}, the keys of its steps and its pause go on`;
    const waiting = countOf(first);
    changes.push(change(shownName(before), shownName(named), becomes, { waiting, until: null, isRisk: false }));
  }
  for (const each of others.filter(({ windows }) => windows.count > 0)) {
    const { count, until } = each.windows;
    const becomes = `${counted(count, "window")} under ${text(each.name)} ${count === 1 ? "is" : "are"} not asked any more: a duplicate that comes until ${count === 1 ? "it ends" : "they end"} starts another run`;
    changes.push(change(each.name, first.name, becomes, { waiting: count, until, isRisk: true }));
  }
  return changes;
}

/** Of a function that the new code does not have. */
export function goneChanges(id: string, under: WaitingUnder, now: NowCalled | null): Change[] {
  const { pending, windows } = under;
  if (now !== null && countOf(under) > 0) {
    const becomes = `if it is ${text(now.name)} now, ${now.mend} keeps what waits for it; without it this stays behind: ${whatWaits(under)}`;
    return [change(id, now.name, becomes, { waiting: countOf(under), until: windows.until, isRisk: true })];
  }
  if (pending === 0) return [];
  const becomes = `${pending} ${pending === 1 ? "event waits" : "events wait"} for it, and ${pending === 1 ? "starts" : "start"} nothing until it is back`;
  return [change(id, "none", becomes, { waiting: pending, until: null, isRisk: true })];
}

const change = (
  before: string,
  now: string,
  becomes: string,
  rest: Pick<Change, "waiting" | "until" | "isRisk">,
): Change => ({ what: "function", before, now, becomes, ...rest });

const countOf = ({ open, pending, windows, crons }: WaitingUnder): number => open + pending + windows.count + crons;

const counted = (count: number, one: string): string => `${count} ${one}${count === 1 ? "" : "s"}`;

function whatWaits({ open, pending, windows, crons }: WaitingUnder): string {
  const parts: [number, string][] = [
    [open, "open run"],
    [pending, "waiting event"],
    [crons, "schedule"],
    // Last: callers add when the last one ends.
    [windows.count, "window"],
  ];
  const said = parts.flatMap(([count, one]) => (count === 0 ? [] : counted(count, one)));
  return said.length === 0 ? "no open run" : said.join(", ");
}
