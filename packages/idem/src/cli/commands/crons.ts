// idem crons: every schedule, when it last ticked and when it will.

import { nextTick, parseCron, ticksBetween } from "../../model/cron.ts";
import type { CronTrigger, FunctionConfig, MissedPolicy } from "../../model/function-config.ts";
import { shownApp } from "../../model/function-names.ts";
import { lengthText } from "../../model/length-text.ts";
import { zoneOf } from "../../model/zone.ts";
import type { CronRow } from "../../store/flow.ts";
import type { RegisteredFunction } from "../../store/functions.ts";
import { type Command, type Context, countOption, serverOptions } from "../command.ts";
import { exitCodes } from "../exit.ts";
import { printable } from "../printable.ts";
import { table } from "../table.ts";
import { when } from "../times.ts";

interface Tick {
  readonly at: number;
  readonly utc: string;
  /** The time on clocks of its zone, with their distance from UTC. */
  readonly local: string;
}

interface Schedule {
  readonly fn: string;
  readonly id: string;
  readonly app: string;
  readonly cron: string;
  readonly zone: string;
  /** Null when it has not ticked since it was registered. */
  readonly lastTickAt: number | null;
  /** Every tick up to here is decided. */
  readonly decidedTo: number;
  /** Ticks since then that are not: nobody was there. */
  readonly undecided: number;
  readonly next: readonly Tick[];
  readonly missed: MissedPolicy;
  readonly jitterMs: number;
  readonly pausedAt: number | null;
}

export const crons: Command = {
  name: "crons",
  summary: "list schedules with their last and next ticks",
  usage: "[--function <id>] [--next <3>] [--limit <50>]",
  words: { min: 0, max: 0 },
  options: {
    function: { value: "id", help: "schedules of this function" },
    next: { value: "3", help: "how many ticks ahead, up to 100" },
    limit: { value: "50", help: "how many schedules, up to 1000" },
    ...serverOptions,
  },
  details: [
    "The soonest comes first. UNDECIDED ticks came while nobody was there: the function's policy for missed ones decides them next.",
  ],
  examples: ["idem crons", "idem crons --function nightly-report --next 10", "idem crons --json"],
  async run(context) {
    const ahead = countOption(context, "next", 3, 100);
    const limit = countOption(context, "limit", 50, 1_000);
    return context.read(async ({ reads, slugOf }) => {
      const { functions } = await reads.functions(context.env);
      const only = context.options.function;
      const shown = only === undefined ? functions : functions.filter(({ fn }) => fn === slugOf(only));
      const rows = await reads.crons(context.env);
      const list = schedulesOf(shown, rows, context.now(), ahead);
      const first = list.slice(0, limit);
      if (context.isJson) context.json(first);
      else show(context, first);
      if (list.length > limit) context.remark(`${list.length - limit} more: --limit and --function narrow the list.`);
      return exitCodes.ok;
    });
  },
};

/** In order of their next tick. */
function schedulesOf(
  functions: readonly RegisteredFunction[],
  rows: readonly CronRow[],
  now: number,
  ahead: number,
): Schedule[] {
  const decidedTo = new Map(rows.map(({ fn, cron, lastTickAt }) => [`${fn}\n${cron}`, lastTickAt]));
  const list = functions.flatMap(({ fn, id, app, config, pausedAt }) => {
    const read = JSON.parse(config) as FunctionConfig;
    return read.triggers.flatMap((trigger) => {
      const to = "cron" in trigger ? decidedTo.get(`${fn}\n${trigger.cron}`) : undefined;
      if (to === undefined) return [];
      return [
        {
          fn,
          id,
          app: shownApp({ app, config: read }),
          ...scheduleOf(trigger as CronTrigger, to, now, ahead),
          pausedAt,
        },
      ];
    });
  });
  return list.sort((a, b) => (a.next[0]?.at ?? Number.MAX_VALUE) - (b.next[0]?.at ?? Number.MAX_VALUE));
}

function scheduleOf({ cron, missed, jitterMs = 0 }: CronTrigger, decidedTo: number, now: number, ahead: number) {
  const { zone } = parseCron(cron);
  const next: Tick[] = [];
  let at = nextTick(cron, Math.max(now, decidedTo));
  for (; at !== null && next.length < ahead; at = nextTick(cron, at)) next.push(tickOf(at, zone));
  return {
    cron,
    zone: zone ?? "UTC",
    lastTickAt: nextTick(cron, decidedTo - 1) === decidedTo ? decidedTo : null,
    decidedTo,
    undecided: ticksBetween(cron, decidedTo, now, 0).omitted,
    next,
    missed: missed ?? ({ kind: "last" } as const),
    jitterMs,
  };
}

function tickOf(at: number, zone: string | null): Tick {
  const offset = zone === null ? 0 : (zoneOf(zone)?.stretchAt(at).offset ?? 0);
  const minutes = Math.round(Math.abs(offset) / 60_000);
  const two = (count: number) => String(count).padStart(2, "0");
  const distance = `${offset < 0 ? "-" : "+"}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
  const seconds = (ms: number) => new Date(ms).toISOString().slice(0, 19);
  return { at, utc: `${seconds(at)}Z`, local: `${seconds(at + offset)}${distance}` };
}

const policyText = (policy: MissedPolicy): string =>
  policy.kind === "all" ? `all, at most ${policy.max}` : policy.kind;

function show(context: Context, list: readonly Schedule[]): void {
  if (list.length === 0) {
    context.remark(`No schedules are registered in environment "${context.env}".`);
    return;
  }
  const { io, paint } = context;
  const now = context.now();
  // "2026-11-15 09:00 +01:00"
  const local = (text: string) => `${text.slice(0, 16).replace("T", " ")} ${text.slice(19)}`;
  const rows = list.flatMap((schedule) => {
    const { id, cron, zone, lastTickAt, decidedTo, undecided, next, missed, jitterMs, pausedAt } = schedule;
    const notes = [
      pausedAt === null ? "" : "paused",
      undecided === 0 ? "" : `${undecided} undecided`,
      jitterMs === 0 ? "" : `jitter ${lengthText(jitterMs)}`,
    ];
    const first = [
      printable(id),
      printable(cron.replace(/^\s*TZ=\S+\s+/, "")),
      printable(zone),
      lastTickAt === null ? `none since ${when(decidedTo, now)}` : when(lastTickAt, now),
    ];
    const last = [policyText(missed), notes.filter((note) => note !== "").join(", ")];
    const ticks = next.map(({ utc, local: text }) => [utc, zone === "UTC" ? "" : local(text)]);
    const [soonest = ["never", ""], ...later] = ticks;
    return [[...first, ...soonest, ...last], ...later.map((tick) => ["", "", "", "", ...tick, "", ""])];
  });
  io.out.write(
    table(
      [
        { title: "FUNCTION" },
        { title: "SCHEDULE", shrinks: true },
        { title: "ZONE", shrinks: true },
        { title: "LAST TICK", shrinks: true, drops: true },
        { title: "NEXT (UTC)" },
        { title: "LOCAL" },
        { title: "MISSED" },
        { title: "", shrinks: true, paint: (cell) => paint.yellow(cell) },
      ],
      rows,
      { columns: io.out.columns, bold: paint.bold },
    ),
  );
}
