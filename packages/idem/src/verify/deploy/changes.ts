// Effects of a function's new configuration on what waits: windows of its key, runs in line, events that are gathered, ticks of a schedule. Pure; each
// sentence is what the engine does (docs/deploying.md).
import type { FlowConfig } from "../../flow/options.ts";
import { flowText } from "../../flow/words.ts";
import { ticksBetween } from "../../model/cron.ts";
import type { CronTrigger, FunctionConfig, KeyConfig } from "../../model/function-config.ts";
import { lengthText } from "../../model/length-text.ts";
import type { PendingCounts } from "../../observe/pending-counts.ts";
import type { CronRow } from "../../store/flow.ts";

/** Everything that waits for a function, as the store has it. */
export interface Waiting {
  readonly now: number;
  readonly open: number;
  readonly queued: number;
  readonly pending: PendingCounts;
  /** Windows of its key that are open. */
  readonly windows: Windows;
  readonly crons: readonly CronRow[];
  /** When each of its open runs began; null for one that has not. */
  readonly startedAt: readonly (number | null)[];
}

export interface Windows {
  readonly count: number;
  /** Of these: how many stay open for as long as their run. */
  readonly held: number;
  /** When the last of the others ends; null without any. */
  readonly until: number | null;
}

/** A changed option, and what becomes of what waits. */
export interface Change {
  /** "idempotency", "concurrency", "cron 0 9 * * 1". */
  readonly what: string;
  readonly before: string;
  readonly now: string;
  readonly becomes: string;
  /** Things that wait under the option as it was. */
  readonly waiting: number;
  /** Until when, where that is known. */
  readonly until: number | null;
  /** Something may be done again, or is lost. */
  readonly isRisk: boolean;
}

export function changesOf(before: FunctionConfig, now: FunctionConfig, waiting: Waiting): Change[] {
  return [
    ...keyChanges(before.idempotency, now.idempotency, waiting),
    ...triggerChanges(before, now, waiting),
    ...cronChanges(before, now, waiting),
    ...flowChanges(before, now, waiting),
    ...timeoutChanges(before, now, waiting),
  ];
}

const keyText = (key: KeyConfig | null): string => key?.key ?? "none";

function keyChanges(before: KeyConfig | null, now: KeyConfig | null, { windows, open }: Waiting): Change[] {
  const { count, until } = windows;
  if (keyText(before) !== keyText(now)) {
    const becomes =
      before === null
        ? `${runs(open)} under way ${open === 1 ? "holds" : "hold"} no key: a duplicate of what started ${open === 1 ? "it" : "one"} starts another run`
        : count === 0
          ? "no window is open"
          : `${counted(count, "window")} under the old expression ${count === 1 ? "is" : "are"} not asked any more: a duplicate that comes until ${count === 1 ? "it ends" : "they end"} starts another run`;
    const waits = before === null ? open : count;
    return [
      {
        what: "idempotency",
        before: keyText(before),
        now: keyText(now),
        becomes,
        waiting: waits,
        until,
        isRisk: waits > 0,
      },
    ];
  }
  if (before === null || now === null || before.windowMs === now.windowMs) return [];
  const becomes = `${counted(count, "window")} that ${count === 1 ? "is" : "are"} open ${count === 1 ? "ends" : "end"} when ${count === 1 ? "it was" : "they were"} to end`;
  const [was, is] = [lengthText(before.windowMs), lengthText(now.windowMs)];
  return [{ what: "idempotency.window", before: was, now: is, becomes, waiting: count, until, isRisk: false }];
}

function triggerChanges(before: FunctionConfig, now: FunctionConfig, { pending }: Waiting): Change[] {
  const eventsOf = ({ triggers }: FunctionConfig) => triggers.flatMap((each) => ("event" in each ? [each] : []));
  const [old, fresh] = [eventsOf(before), eventsOf(now)];
  const names = [...new Set([...old, ...fresh].map(({ event }) => event))];
  const kept = pending.held + pending.paused;
  const gathered = pending.debounced + pending.batched;
  return names.flatMap((name): Change[] => {
    const [was, is] = [old, fresh].map((list) =>
      list.filter(({ event }) => event === name).map((each) => each.if ?? "always"),
    ) as [string[], string[]];
    if (was.join(" or ") === is.join(" or ") || was.length === 0) return [];
    const releases =
      is.length === 0
        ? `${events(kept)} held or paused ${kept === 1 ? "starts" : "start"} a run all the same when released`
        : `${events(kept)} held or paused ${kept === 1 ? "is" : "are"} asked by the new filter when released`;
    const becomes = `${releases}; ${events(gathered)} gathered already ${gathered === 1 ? "becomes a run" : "become runs"}`;
    const text = (list: string[]) => (list.length === 0 ? "none" : list.join(" or "));
    return [
      {
        what: `trigger ${name}`,
        before: text(was),
        now: text(is),
        becomes,
        waiting: kept + gathered,
        until: null,
        isRisk: false,
      },
    ];
  });
}

function cronChanges(before: FunctionConfig, now: FunctionConfig, { crons, now: at }: Waiting): Change[] {
  const schedulesOf = ({ triggers }: FunctionConfig): CronTrigger[] =>
    triggers.flatMap((each) => ("cron" in each ? [each] : []));
  const fresh = schedulesOf(now).filter(({ cron }) => !schedulesOf(before).some((each) => each.cron === cron));
  const gone = schedulesOf(before).filter(({ cron }) => !schedulesOf(now).some((each) => each.cron === cron));
  const is = fresh.length === 0 ? "none" : fresh.map(({ cron }) => cron).join(", ");
  const removed = gone.map(({ cron }): Change => {
    const row = crons.find((each) => each.cron === cron);
    const missed = row === undefined ? 0 : undecided(row, at);
    const becomes =
      missed === 0
        ? "every tick up to now is decided; the next one comes by the new schedule"
        : `${counted(missed, "tick")} that nobody has decided yet ${missed === 1 ? "is" : "are"} forgotten`;
    return { what: `cron ${cron}`, before: cron, now: is, becomes, waiting: missed, until: null, isRisk: missed > 0 };
  });
  const added = gone.length > 0 ? [] : fresh;
  return [
    ...removed,
    ...added.map(({ cron }): Change => {
      const becomes = "it begins when the new code is registered; earlier ticks are not made up";
      return { what: `cron ${cron}`, before: "none", now: cron, becomes, waiting: 0, until: null, isRisk: false };
    }),
  ];
}

function undecided({ cron, lastTickAt }: CronRow, now: number): number {
  const { ticks, omitted } = ticksBetween(cron, lastTickAt, now, 1);
  return ticks.length + omitted;
}

type Becomes = (
  waiting: Waiting,
  before: FlowConfig,
  now: FlowConfig,
) => { readonly count: number; readonly text: string };

const inLine: Becomes = ({ queued }, before, now) => {
  const are = queued === 1 ? "run stands" : "runs stand";
  const was = JSON.stringify(limitKeys(before)) === JSON.stringify(limitKeys(now));
  const text = was
    ? `${queued} ${are} in line, by the new limit from now on`
    : `${queued} ${are} in line by the old keys and ${queued === 1 ? "keeps its" : "keep their"} place: beside new ones more may be at work at once than the limit says`;
  return { count: queued, text };
};

const limitKeys = ({ concurrency = [], throttle }: FlowConfig) => [
  concurrency.map(({ key, scope }) => [key, scope]),
  throttle?.key,
];

const gathered =
  (kind: "debounced" | "batched"): Becomes =>
  ({ pending }) => {
    const count = pending[kind];
    return {
      count,
      text: `${events(count)} gathered ${count === 1 ? "becomes a run" : "become runs"} when and as ${count === 1 ? "it was" : "they were"} to`,
    };
  };

const became: { readonly [Name in keyof FlowConfig]-?: Becomes } = {
  concurrency: inLine,
  throttle: inLine,
  debounce: gathered("debounced"),
  batch: gathered("batched"),
  rateLimit: () => ({ count: 0, text: "what was counted under another key is not counted; events from now on are" }),
  singleton: ({ open }) => ({
    count: open,
    text: `${runs(open)} under way ${open === 1 ? "stands" : "stand"} in the way of new ones by the old key only`,
  }),
  priority: ({ queued }) => ({
    count: queued,
    text: `${runs(queued)} in line ${queued === 1 ? "keeps its place" : "keep their places"}`,
  }),
  cancelOn: ({ open }) => ({
    count: open,
    text: `${runs(open)} under way ${open === 1 ? "is" : "are"} cancelled by what cancelled ${open === 1 ? "it when it" : "them when they"} began`,
  }),
};

function flowChanges(before: FlowConfig, now: FlowConfig, waiting: Waiting): Change[] {
  return (Object.keys(became) as (keyof FlowConfig)[]).flatMap((name): Change[] => {
    if (JSON.stringify(before[name]) === JSON.stringify(now[name])) return [];
    const { count, text } = became[name](waiting, before, now);
    const textOf = (config: FlowConfig) => (config[name] === undefined ? "none" : flowText({ [name]: config[name] }));
    const [was, is] = [textOf(before), textOf(now)];
    return [{ what: name, before: was, now: is, becomes: text, waiting: count, until: null, isRisk: false }];
  });
}

function timeoutChanges(before: FunctionConfig, now: FunctionConfig, { startedAt, now: at }: Waiting): Change[] {
  const limit = now.finishTimeoutMs;
  if (limit === null || limit === before.finishTimeoutMs) return [];
  const over = startedAt.filter((began) => began !== null && began + limit <= at).length;
  const becomes = `${runs(over)} began longer ago: ${over === 1 ? "it is" : "they are"} cancelled when next taken up`;
  const text = (ms: number | null) => (ms === null ? "none" : lengthText(ms));
  const [was, is] = [text(before.finishTimeoutMs), text(limit)];
  return [{ what: "timeouts.finish", before: was, now: is, becomes, waiting: over, until: null, isRisk: over > 0 }];
}

const counted = (count: number, one: string): string => `${count} ${one}${count === 1 ? "" : "s"}`;
const runs = (count: number): string => counted(count, "run");
const events = (count: number): string => counted(count, "event");
