// `--where` of idem rerun, cancel and release: the same act on every run that fits, counted first where that is asked for.
import { type BulkPart, emptyPart, lookAtPart, together } from "../engine/bulk/bulk-part.ts";
import { type BulkAction, leftOutWords } from "../engine/bulk/left-out.ts";
import type { RunSelection } from "../engine/bulk/select-runs.ts";
import { parseDuration } from "../model/duration.ts";
import { compileRunFilter } from "../model/expression.ts";
import { openStates, type RunState } from "../model/run.ts";
import { Turns, Work } from "../model/turns.ts";
import { makeUlid } from "../model/ulid.ts";
import { functionKeyOf } from "../observe/function-key.ts";
import type { Context, Option } from "./command.ts";
import { usage } from "./exit.ts";
import { printable } from "./printable.ts";
import { showProgress } from "./progress.ts";

export const runStates: readonly RunState[] = [...openStates, "completed", "failed", "cancelled"];

export const bulkUsage = "--where <expression> [--function <id>] [--state <state>] [--since <1h>] [--dry-run]";

/** Of every command that acts on many runs. */
export const bulkOptions: Readonly<Record<string, Option>> = {
  where: {
    value: "expression",
    help: `all runs that fit, over event and output: 'event.data.total > 100'; "true" for all`,
  },
  function: { value: "id", help: "with --where: only runs of this function" },
  state: { value: "state", help: `with --where: ${runStates.join(", ")}`, choices: runStates },
  key: { value: "key", help: "with --where and --function: only runs of this key" },
  since: { value: "1h", help: "with --where: opened no longer ago than this, or since an instant of ISO 8601" },
  until: { value: "10m", help: "with --where: opened longer ago than this, or before an instant" },
  "dry-run": { help: "with --where: only count what would be done, and what is left out and why" },
};

/** The outcome, after the number: "116 runs were rerun". */
const doneWords: Readonly<Record<BulkAction, readonly [would: string, did: string]>> = {
  rerun: ["would run again", "run again"],
  cancel: ["would be cancelled", "are cancelled"],
  release: ["would go on", "go on"],
  "release-keys": ["would give their keys back", "gave their keys back"],
};

/** Whether the command is about many runs; refuses one that names a run as well, or many in options only. */
export function isBulk({ words, options, flags }: Context): boolean {
  const only = Object.keys(bulkOptions).filter((name) => name !== "function" && name !== "where");
  if (options.where !== undefined) {
    if (words.length > 0) throw usage(`Name one id, or many runs by --where: not both.`);
    return true;
  }
  const stray = only.find((name) => options[name] !== undefined || flags.has(name));
  if (stray !== undefined)
    throw usage(`--${stray} belongs to --where, which says which runs are meant: --where true for all.`);
  if (words.length === 0) throw usage("Name an id, or say which runs are meant with --where.");
  return false;
}

export async function actOnMany(context: Context, action: BulkAction): Promise<number> {
  const isDry = context.flags.has("dry-run");
  const { platform } = context.io;
  const startedAt = context.now();
  const id = makeUlid(startedAt, platform.randomBytes(10));
  const { selection, counted } = await context.read(async (reading) => {
    const { reads, env } = reading;
    const asked = await selectionOf(context, action, startedAt, async (name, key) => {
      const fn = name === undefined ? undefined : reading.slugOf(name);
      return { fn, key: key === undefined || fn === undefined ? undefined : await functionKeyOf(reads, env, fn, key) };
    });
    if (!isDry) return { selection: asked, counted: null };
    const work = new Work(new Turns((run) => platform.soon(run)), Number.POSITIVE_INFINITY, () => false);
    const look = { reads, env, fullName: reading.nameOf, now: startedAt };
    return {
      selection: asked,
      counted: await inParts((before) => lookAtPart(look, { id, action, startedAt }, asked, before, work)),
    };
  });
  const total =
    counted ??
    (await actOn(context, {
      id,
      action,
      startedAt,
      selection,
      reason: context.options.reason ?? "together with others, from the command line",
    }));
  tell(context, action, total, { id, isDry });
  return total.failures.length > 0 ? 1 : 0;
}

async function actOn(context: Context, order: BulkOrdered): Promise<BulkPart> {
  const progress = showProgress(context.io, "runs looked at");
  try {
    return await context.write((ask) =>
      inParts(
        (before) => ask("bulk", context.env, { ...order, before }),
        ({ matchedCount }) => progress.update(matchedCount, null),
      ),
    );
  } finally {
    progress.end();
  }
}

interface BulkOrdered {
  readonly id: string;
  readonly action: BulkAction;
  readonly startedAt: number;
  readonly reason: string;
  readonly selection: RunSelection;
}

async function inParts(
  next: (before: string | null) => Promise<BulkPart>,
  onPart: (soFar: BulkPart) => void = () => {},
): Promise<BulkPart> {
  let total = emptyPart;
  do {
    total = together(total, await next(total.next));
    onPart(total);
  } while (total.next !== null);
  return total;
}

async function selectionOf(
  { options }: Context,
  action: BulkAction,
  now: number,
  named: (
    name: string | undefined,
    key: string | undefined,
  ) => Promise<{ fn: string | undefined; key: string | undefined }>,
): Promise<RunSelection> {
  const { where, state, since, until } = options;
  if (state !== undefined && !runStates.includes(state as RunState)) {
    throw usage(`--state is "${state}"; it must be one of ${runStates.join(", ")}.`);
  }
  if (options.key !== undefined && options.function === undefined) {
    throw usage("A key is unique inside its function only: give --function as well.");
  }
  compileRunFilter(where!);
  const { fn, key } = await named(options.function, options.key);
  return {
    ...(where === "true" ? {} : { if: where! }),
    ...(fn === undefined ? {} : { fn }),
    ...(key === undefined ? {} : { key }),
    ...(state === undefined ? {} : { state: state as RunState }),
    ...(since === undefined ? {} : { since: instantOf("since", since, now) }),
    until: until === undefined ? now : Math.min(now, instantOf("until", until, now)),
    onlyOpen: action === "cancel",
  };
}

function instantOf(option: string, text: string, now: number): number {
  if (!/^\d{4}-/.test(text)) return now - parseDuration(text, `--${option}`);
  const at = Date.parse(text);
  if (Number.isNaN(at)) throw usage(`--${option} is "${text}", which is no date of ISO 8601.`);
  return at;
}

function tell(
  context: Context,
  action: BulkAction,
  { matchedCount, doneCount, leftOut, failures }: BulkPart,
  { id, isDry }: { readonly id: string; readonly isDry: boolean },
): void {
  if (context.isJson) {
    context.json({ id: isDry ? null : id, action, isDryRun: isDry, matchedCount, doneCount, leftOut, failures });
    return;
  }
  const runs = (count: number) => `${count} ${count === 1 ? "run" : "runs"}`;
  context.say(`${runs(doneCount)} ${doneWords[action][isDry ? 0 : 1]}, of ${matchedCount} that fit`);
  for (const { why, count, runIds } of leftOut) {
    context.say(`${runs(count)} left out: ${leftOutWords(why)} (${runIds[0]}${count > 1 ? ", …" : ""})`);
  }
  for (const { runId, error } of failures) context.say(`run ${runId} could not be: ${printable(error)}`);
  if (isDry) context.remark("Nothing was done.");
  else if (matchedCount > 0) context.remark(`Kept in the audit as bulk work ${id}.`);
}
