// A run's log, for people and for programs.
import { readLog } from "../model/log-line.ts";
import type { TimelineEntry } from "../observe/timeline.ts";
import type { RunLog } from "../store/steps.ts";
import type { Context } from "./command.ts";
import { printable } from "./printable.ts";
import { table } from "./table.ts";
import { iso } from "./times.ts";

export function shownLog({ parts, isFull }: RunLog) {
  const { lines, dropped } = readLog(parts);
  const logs = lines.map(({ n: _, fields, ...line }) => ({
    ...line,
    fields: fields === null ? null : (JSON.parse(fields) as unknown),
  }));
  return { logs, logsDropped: dropped, isLogFull: isFull };
}

export function showLog(
  { say, remark, io, paint }: Context,
  { parts, isFull }: RunLog,
  timeline: readonly TimelineEntry[],
): void {
  const { lines, dropped } = readLog(parts);
  say("");
  if (lines.length === 0) {
    say("Its code wrote no lines, or none are kept: `runLogs: false`, or an app that is called over HTTP.");
    return;
  }
  const nameOf = new Map(timeline.map(({ stepId, name }) => [stepId, name]));
  const colours = { debug: paint.dim, info: (text: string) => text, warn: paint.yellow, error: paint.red };
  io.out.write(
    table(
      [
        { title: "AT" },
        { title: "LEVEL", paint: (cell, row) => colours[lines[row]!.level](cell) },
        { title: "STEP", shrinks: true },
        { title: "LINE", shrinks: true },
      ],
      lines.map(({ at, level, stepId, attempt, message, fields, isCut }) => [
        iso(at),
        level,
        stepId === null
          ? "–"
          : `${printable(nameOf.get(stepId) ?? stepId)}${attempt > 1 ? `, attempt ${attempt}` : ""}`,
        printable(`${message}${fields === null ? "" : ` ${fields}`}${isCut ? " …" : ""}`),
      ]),
      { columns: io.out.columns, bold: paint.bold },
    ),
  );
  if (dropped > 0) remark(`${dropped} more lines came too fast between two commits, and are not kept.`);
  if (isFull) remark("The run wrote more than is kept of one; what came later is missing.");
}
