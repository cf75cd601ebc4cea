// idem run <id>: one run's timeline as text.
import type { CodeChange } from "../../model/code-fingerprint.ts";
import type { LimitInLine } from "../../observe/outlook.ts";
import type { TimelineEntry } from "../../observe/timeline.ts";
import { type Command, type Context, serverOptions } from "../command.ts";
import { failed } from "../exit.ts";
import { paintState } from "../paint.ts";
import { fit, printable, printableJson } from "../printable.ts";
import { showLog, shownLog } from "../show-log.ts";
import { table } from "../table.ts";
import { duration, iso, when } from "../times.ts";

export const run: Command = {
  name: "run",
  summary: "show one run: its steps, attempts, waits, keys and times",
  usage: "<run id> [--logs]",
  words: { min: 1, max: 1 },
  options: { logs: { help: "what its code wrote through its logger, beside its steps" }, ...serverOptions },
  examples: [
    "idem run 01JZZ4Q8X5T2M7N0B6E3R9V1KD --logs",
    "idem run 01JZZ4Q8X5T2M7N0B6E3R9V1KD",
    "idem run 01JZZ4Q8X5T2M7N0B6E3R9V1KD --json",
  ],
  async run(context) {
    const id = context.words[0]!;
    return context.read(async ({ idem, reads }) => {
      const found = await idem.runs.get(id);
      if (found === null) throw failed(`There is no run ${id} in environment "${context.env}". idem runs lists them.`);
      const log = context.flags.has("logs") ? await reads.runLog(context.env, id) : null;
      if (context.isJson) {
        context.json(log === null ? found : { ...found, ...shownLog(log) });
        return 0;
      }
      const { paint } = context;
      const now = context.now();
      const facts: (readonly [string, string])[] = [
        ["run", found.id],
        ["function", printable(found.function)],
        ["state", paintState(paint, found.state)(found.state)],
        ["event", found.eventId],
        ["key", printable(found.key ?? "–")],
        ["opened", when(found.createdAt, now)],
        ["began", when(found.startedAt, now)],
        ["ended", when(found.endedAt, now)],
      ];
      if (found.events.length > 1) facts.push(["batch", `${found.events.length} events`]);
      const waited = (found.startedAt ?? now) - found.createdAt;
      if (found.line.length > 0 || (found.startedAt !== null && waited > 0)) facts.push(["waited", duration(waited)]);
      for (const limit of found.line) facts.push(["waits for", printable(limitText(limit))]);
      for (const { event, if: condition } of found.cancelOn) {
        facts.push(["cancel on", printable(condition === null ? event : `${event} where ${condition}`)]);
      }
      if (found.parked !== null) {
        facts.push(["parked", `${when(found.parked.at, now)}: ${printable(found.parked.reason)}`]);
        facts.push(["go on", `idem release ${found.id}, once what stopped it is mended`]);
      } else if (found.lost !== null) {
        const { count, worker, at } = found.lost;
        const lost = `the last worker, ${printable(worker)}, was lost ${when(at, now)}`;
        facts.push(["entered", `${count === 1 ? "once" : `${count} times in a row`} without an outcome; ${lost}`]);
      }
      if (found.dueAt !== null) facts.push(["looked at", when(found.dueAt, now)]);
      if (found.rerunOf !== null) facts.push(["reruns", found.rerunOf]);
      if (found.rerunFrom !== null) facts.push(["from step", printable(found.rerunFrom.name)]);
      if (found.code !== null) facts.push(["code", codeText(found.code, found.timeline)]);
      if (found.previousRunId !== null) facts.push(["key before", found.previousRunId]);
      if (found.state === "completed") facts.push(["output", shown(context, found.output, 12)]);
      if (found.error !== null) facts.push(["error", printable(`${found.error.name}: ${found.error.message}`)]);
      for (const [name, value] of facts) context.say(`${paint.bold(name.padEnd(10))}  ${value}`);
      context.say("");
      if (found.timeline.length === 0) context.say("No step has been recorded.");
      else showTimeline(context, found.timeline, found.createdAt);
      if (log !== null) showLog(context, log, found.timeline);
      return 0;
    });
  },
};

/** The fingerprint it began under, and what it went on under. */
function codeText(code: string, timeline: readonly TimelineEntry[]): string {
  const since = timeline.flatMap(({ kind, output, isKept }) =>
    kind === "code-changed" && !isKept ? [(output as CodeChange).to] : [],
  );
  return [code, ...since].map(printable).join(", changed to ");
}

function showTimeline(context: Context, timeline: readonly TimelineEntry[], from: number): void {
  const { io, paint } = context;
  const rows: string[][] = [];
  const states: string[] = [];
  const add = (state: string, ...cells: string[]) => {
    states.push(state);
    rows.push(cells);
  };
  for (const entry of timeline) {
    const name = entry.name === "" ? "(between steps)" : printable(entry.name);
    const took = entry.endedAt === null ? "–" : duration(entry.endedAt - entry.startedAt);
    add(
      entry.state,
      offset(entry.startedAt, from),
      name,
      entry.kind,
      entry.state,
      took,
      entry.destinationKey ?? "–",
      outcome(entry),
    );
    // The last attempt of an entry that came to an end is the entry itself.
    const earlier = entry.endedAt === null ? entry.attempts : entry.attempts.slice(0, -1);
    for (const attempt of earlier) {
      add(
        "failed",
        offset(attempt.startedAt, from),
        `  attempt ${attempt.attempt}`,
        "",
        "failed",
        duration(attempt.endedAt - attempt.startedAt),
        "",
        printable(
          `${attempt.error?.name ?? "Error"}: ${attempt.error?.message ?? ""}${attempt.retryAt === null ? "" : `; again at ${iso(attempt.retryAt)}`}`,
        ),
      );
    }
  }
  io.out.write(
    table(
      [
        { title: "AT", align: "right" },
        { title: "STEP", shrinks: true },
        { title: "KIND" },
        { title: "STATE", paint: (cell, row) => paintState(paint, states[row]!)(cell) },
        { title: "TOOK", align: "right" },
        { title: "KEY", shrinks: true },
        { title: "OUTCOME", shrinks: true },
      ],
      rows,
      { columns: io.out.columns, bold: paint.bold },
    ),
  );
}

function limitText({ kind, limit, periodMs, key, used, waiting }: LimitInLine): string {
  const of = `${kind}${key === null ? "" : ` of key ${key}`}`;
  const state = used === null ? `${limit} in ${duration(periodMs ?? 0)}` : `${used} of ${limit} at work`;
  return `${of}: ${state}, ${waiting} in line`;
}

const offset = (at: number, from: number): string => `+${duration(Math.max(0, at - from))}`;

function outcome(entry: TimelineEntry): string {
  if (entry.error !== null && entry.state === "failed") return printable(`${entry.error.name}: ${entry.error.message}`);
  if (entry.state === "completed") return printableJson(entry.output);
  return entry.waitsUntil === null ? "until it is woken" : `until ${iso(entry.waitsUntil)} at the latest`;
}

const shown = ({ io }: Context, value: unknown, used: number): string => {
  const text = printableJson(value);
  return io.out.columns === null ? text : fit(text, Math.max(20, io.out.columns - used));
};
