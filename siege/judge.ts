// The demands on a siege, and the judgement of each.
import type { Sample } from "./honest.ts";
import { kinds } from "./kinds.ts";
import type { Siege } from "./run-siege.ts";

export const honestP99MsMax = 250;
/**
 * Memory is flat when what is kept after the last round is no more than this above what was kept after the second, by which everything
 * that is filled once (caches, code that was compiled, pools of lines) has been filled; what is kept per request would grow with each round.
 */
export const growthMax = { part: 0.15, bytes: 32 * 1024 * 1024 };
/** Whatever is sent: a body kept for each request would pass it at once. */
export const rssBytesMax = 1024 * 1024 * 1024;

export const percentile = (sorted: readonly number[], part: number): number =>
  sorted.length === 0 ? 0 : sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * part) - 1)]!;

export const latenciesOf = (samples: readonly Sample[]): number[] => samples.map(({ ms }) => ms).sort((a, b) => a - b);

export const sendP99Of = (samples: readonly Sample[]): number =>
  percentile(latenciesOf(samples.filter(({ traffic }) => traffic === "send")), 0.99);

/** Under pages that are read without a pause: commits have their turn, whatever is read. */
export const sendFactorMax = 3;

export interface Complaint {
  readonly kind: string;
  readonly what: string;
}

/** Facts, whatever the machine: nothing honest refused or lost, nothing answered with an error of ours, nobody ended, memory bounded. */
export function complaintsOf({ slices, memory, ended }: Siege): Complaint[] {
  const complaints: Complaint[] = [];
  for (const { kind, samples, answers } of slices) {
    const refused = samples.filter((sample) => sample.refused !== null && !sample.isLate);
    for (const { traffic, refused: why } of refused.slice(0, 3)) complaints.push({ kind, what: `${traffic}: ${why}` });
    if (refused.length > 3) complaints.push({ kind, what: `… and ${refused.length - 3} more honest ones refused` });
    for (const [answer, count] of Object.entries(answers)) {
      if (/^5\d\d$/.test(answer) && answer !== "503") {
        complaints.push({ kind, what: `${count} attacks were answered with ${answer}` });
      }
      if (/^2\d\d$/.test(answer) && kinds.some(({ name, isRefused }) => name === kind && isRefused === true)) {
        complaints.push({ kind, what: `${count} attacks succeeded with ${answer}` });
      }
    }
  }
  for (const who of ["server", "app"] as const) {
    const most = Math.max(0, ...memory.map((each) => each[who]));
    if (most > rssBytesMax) complaints.push({ kind: "memory", what: `the ${who} had ${megabytes(most)}` });
  }
  if (ended !== null) complaints.push({ kind: slices.at(-1)?.kind ?? "start", what: ended });
  return complaints;
}

/** Complaints about slowness: only a machine with nothing else to do can show it. */
export function slownessOf(siege: Siege): Complaint[] {
  const complaints: Complaint[] = [];
  for (const kind of new Set(siege.slices.map((slice) => slice.kind))) {
    const samples = siege.slices.filter((slice) => slice.kind === kind).flatMap((slice) => slice.samples);
    const lateCount = samples.filter(({ isLate }) => isLate).length;
    if (lateCount > 0)
      complaints.push({ kind, what: `${lateCount} honest ones were told to come again: the store was late` });
    const p99 = percentile(latenciesOf(samples), 0.99);
    if (p99 < honestP99MsMax) continue;
    const what = `honest p99 was ${p99.toFixed(0)} ms`;
    complaints.push({
      kind,
      what: kind === "peace" ? `${what} before any attack: the machine is busy, so nothing is said of speed` : what,
    });
  }
  const sendP99 = (of: string) =>
    sendP99Of(siege.slices.filter(({ kind }) => kind === of).flatMap(({ samples }) => samples));
  const [idle, read] = [sendP99("peace"), sendP99("looping-pages")];
  if (idle > 0 && read > sendFactorMax * idle) {
    const what = `p99 of send was ${read.toFixed(0)} ms, more than ${sendFactorMax} times the ${idle.toFixed(0)} ms in peace`;
    complaints.push({ kind: "looping-pages", what });
  }
  for (const who of ["server", "app"] as const) {
    const rounds = siege.memoryKept.map((each) => each[who]);
    const [before, after] = [rounds[1], rounds.at(-1)];
    if (rounds.length < 3 || before === undefined || after === undefined) continue;
    if (after > before * (1 + growthMax.part) + growthMax.bytes) {
      const shown = rounds.map(megabytes).join(", ");
      complaints.push({ kind: "memory", what: `the ${who} grew from round to round: ${shown}` });
    }
  }
  return complaints;
}

export const megabytes = (bytes: number): string => `${Math.round(bytes / 1024 / 1024)} MB`;
