// For people: progress while it runs, counts at the end.
import type { RoundResult } from "./round.ts";

/** A line that is written over; where there is no terminal, a line a minute. */
export class Progress {
  private readonly startedAt = Date.now();
  private readonly isLive = process.stderr.isTTY;
  private shownAt = this.startedAt;
  private done = 0;

  constructor(
    private readonly what: string,
    private total: number,
  ) {}

  /** These were done before: they count, and say nothing about how long the rest will take. */
  skip(count: number): void {
    this.total -= count;
  }

  step(count = 1): void {
    this.done += count;
    const now = Date.now();
    if (now - this.shownAt < (this.isLive ? 250 : 60_000)) return;
    this.shownAt = now;
    const seconds = (now - this.startedAt) / 1_000;
    const leftSeconds = (seconds / this.done) * (this.total - this.done);
    const rate = (this.done / seconds).toFixed(1);
    const text = `${this.done} of ${this.total} ${this.what}, ${rate}/s, ${timeText(leftSeconds)} left`;
    process.stderr.write(this.isLive ? `\r${text}  ` : `${text}\n`);
  }

  end(): void {
    if (this.isLive) process.stderr.write("\r\u001b[K");
  }
}

const timeText = (seconds: number): string =>
  seconds < 90 ? `${Math.ceil(seconds)} s` : `${Math.ceil(seconds / 60)} min`;

export const percentile = (values: readonly number[], share: number): number =>
  [...values].sort((a, b) => a - b)[Math.max(0, Math.ceil(values.length * share) - 1)] ?? 0;

export function reportOf(rounds: readonly RoundResult[]): string {
  const sum = (pick: (round: RoundResult) => number) => rounds.reduce((total, round) => total + pick(round), 0);
  const recovery = rounds.flatMap(({ recoveryMs }) => recoveryMs);
  const points: Record<string, number> = {};
  for (const round of rounds) {
    for (const [point, count] of Object.entries(round.points)) points[point] = (points[point] ?? 0) + count;
  }
  const lines: [string, string | number][] = [
    ["kills", sum(({ kills }) => kills.point + kills["any-time"] + kills.recovery)],
    ["  at a crash point", sum(({ kills }) => kills.point)],
    ["  at any time", sum(({ kills }) => kills["any-time"])],
    ["  in recovery", sum(({ kills }) => kills.recovery)],
    ...Object.entries(points)
      .sort()
      .map(([point, count]): [string, number] => [`    ${point}`, count]),
    ["write locks by a tool", sum(({ locker }) => locker?.locks ?? 0)],
    ["  held, in all", `${(sum(({ locker }) => locker?.lockedMs ?? 0) / 1_000).toFixed(1)} s`],
    ["checkpoints by a tool", sum(({ locker }) => locker?.checkpoints ?? 0)],
    ["events acknowledged", sum(({ acked }) => acked)],
    ["  between kills", sum(({ ackedUnderFire }) => ackedUnderFire)],
    ["duplicates decided", sum(({ duplicates }) => duplicates)],
    ["runs ended", sum(({ runs }) => runs)],
    ["steps", sum(({ steps }) => steps)],
    ["  entered again, cut off", sum(({ stepsEnteredAgain }) => stepsEnteredAgain)],
    ["recovery p50 / p99", `${percentile(recovery, 0.5)} / ${percentile(recovery, 0.99)} ms`],
    ["violations", sum(({ violations }) => violations.length)],
  ];
  const table = lines.map(([name, value]) => `${name.padEnd(28)} ${String(value).padStart(12)}`);
  const violated = rounds.flatMap(({ seed, folder, violations }) =>
    violations.map(
      ({ check, detail }) => `VIOLATED ${check}\n         ${detail}\n         seed ${seed}, kept in ${folder}`,
    ),
  );
  return [...table, ...violated].join("\n");
}
