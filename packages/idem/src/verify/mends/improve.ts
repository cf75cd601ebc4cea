// A finding made small, and the change that mends it: nothing is shown that was not played.
import type { Finding } from "../report.ts";
import { readSchedule, scheduleOf } from "../schedules.ts";
import type { Json, SeenEffect, WorldRecord } from "../thing.ts";
import type { Change } from "./change.ts";
import { type ProposeFor, propose } from "./propose.ts";
import { type TellAbout, tellMend } from "./tell.ts";

export interface Tried {
  readonly findings: readonly Finding[];
  readonly drawn: WorldRecord["drawn"];
}

export interface ImproveOptions extends Pick<TellAbout, "fnId" | "readSource" | "modules"> {
  readonly effect: SeenEffect | null;
  /** All of the function's. */
  readonly findings: readonly Finding[];
  readonly key: Pick<ProposeFor, "keyExpression" | "isUnkeyed" | "suggestedKey" | "entityExpression">;
  /** The finding of this schedule alone; null for none. */
  readonly playAgain: (schedule: string) => Promise<Finding | null>;
  /** Plays this schedule with other data in the event. */
  readonly playWith: (schedule: string, data: Json) => Promise<Tried>;
  /** Plays every single adversity, this schedule first, with these changes made. */
  readonly playChanged: (
    changes: readonly Change[],
    schedule: string,
    isRefuted: (found: readonly Finding[]) => boolean,
  ) => Promise<Tried>;
  /** No more time for making the event smaller. */
  readonly isLate: () => boolean;
}

/** The same verdict about the same line, or about the same thing where no line is known. */
export const isSameFinding = (one: Finding, other: Finding): boolean =>
  one.verdict === other.verdict &&
  (one.place === null || other.place === null
    ? one.effect === other.effect && (one.effect !== null || one.thing === other.thing)
    : one.place.file === other.place.file && one.place.line === other.place.line);

export async function improve(finding: Finding, options: ImproveOptions): Promise<Finding> {
  const fewer = await withFewerAdversities(finding, options);
  const small = await withLessData(fewer, options);
  return { ...small, mend: await mendOf(finding, small.schedule, options) };
}

async function withFewerAdversities(finding: Finding, options: ImproveOptions): Promise<Finding> {
  const adversities = readSchedule(finding.schedule)?.adversities ?? [];
  if (adversities.length < 2) return finding;
  for (const left of adversities) {
    const smaller = scheduleOf(...adversities.filter((each) => each !== left));
    const found = await options.playAgain(smaller.id);
    if (found !== null && isSameFinding(found, finding)) return withFewerAdversities({ ...finding, ...found }, options);
  }
  return finding;
}

/** Fields at the top of the event's data are left out one by one, while the finding stays. */
async function withLessData(finding: Finding, options: ImproveOptions): Promise<Finding> {
  const { event } = finding;
  if (event === null || typeof event.data !== "object" || event.data === null || Array.isArray(event.data))
    return finding;
  const names = Object.keys(event.data);
  let small = finding;
  for (const name of names.length < 2 ? [] : names) {
    if (options.isLate()) break;
    const { [name]: _, ...data } = small.event!.data as { readonly [name: string]: Json };
    const { findings } = await options.playWith(finding.schedule, data);
    const found = findings.find((each) => isSameFinding(each, finding));
    if (found !== undefined && findings.length === 1) small = { ...found, mend: null };
  }
  return small;
}

async function mendOf(finding: Finding, schedule: string, options: ImproveOptions): Promise<Finding["mend"]> {
  const { effect, findings, key, fnId, readSource, modules } = options;
  const adversities = readSchedule(schedule)?.adversities ?? [];
  const others = findings.filter((each) => each !== finding);
  // Other known findings may stay; a new one, or this one, refutes the change.
  const isRefuted = (found: readonly Finding[]): boolean =>
    found.some((each) => isSameFinding(each, finding) || !others.some((other) => isSameFinding(each, other)));
  for (const changes of propose({ verdict: finding.verdict, adversities, effect, ...key })) {
    const tried = await options.playChanged(changes, schedule, isRefuted);
    if (isRefuted(tried.findings)) continue;
    return tellMend(changes, { fnId, effect, drawn: tried.drawn, readSource, modules });
  }
  return null;
}
