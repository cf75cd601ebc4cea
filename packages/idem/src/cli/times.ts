// Times for people: how long ago, and exactly when.

const units: readonly (readonly [number, string])[] = [
  [86_400_000, "d"],
  [3_600_000, "h"],
  [60_000, "min"],
  [1_000, "s"],
];

/** "3 min ago", "in 2 d", "now" */
export function relative(at: number, now: number): string {
  const ms = Math.abs(now - at);
  const unit = units.find(([size]) => ms >= size);
  if (unit === undefined) return "now";
  const count = `${Math.floor(ms / unit[0])} ${unit[1]}`;
  return at <= now ? `${count} ago` : `in ${count}`;
}

export const iso = (at: number): string => new Date(at).toISOString();

export const when = (at: number | null, now: number): string =>
  at === null ? "–" : `${iso(at)} (${relative(at, now)})`;

/** "12 ms", "1.25 s", "2 min 5 s" */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(2)} s`;
  const parts = units.slice(0, 3).map(([size, name], i) => {
    const above = i === 0 ? Number.POSITIVE_INFINITY : units[i - 1]![0];
    return [Math.floor((ms % above) / size), name] as const;
  });
  const seconds = Math.floor((ms % 60_000) / 1_000);
  const shown = [...parts, [seconds, "s"] as const].filter(([count]) => count > 0).slice(0, 2);
  return shown.map(([count, name]) => `${count} ${name}`).join(" ");
}

export function bytes(count: number): string {
  if (count < 1024) return `${count} B`;
  if (count < 1024 ** 2) return `${(count / 1024).toFixed(1)} KiB`;
  if (count < 1024 ** 3) return `${(count / 1024 ** 2).toFixed(1)} MiB`;
  return `${(count / 1024 ** 3).toFixed(2)} GiB`;
}
