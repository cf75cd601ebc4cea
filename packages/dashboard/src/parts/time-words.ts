// Instants and lengths in words. Rows show milliseconds, because differences matter; sentences say "53 s ago".

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** In at most two units: "0.8 s", "52 s", "9 m 57 s", "23 h 59 m", "6 d 2 h". */
export function lengthWords(ms: number): string {
  if (ms < 0) return `−${lengthWords(-ms)}`;
  if (ms < second) return ms < 100 ? `${Math.round(ms)} ms` : `${round(ms / second)} s`;
  if (ms < 10 * second) return `${round(ms / second)} s`;
  if (ms < minute) return `${Math.floor(ms / second)} s`;
  if (ms < hour) return two(ms, minute, "m", second, "s");
  if (ms < day) return two(ms, hour, "h", minute, "m");
  return two(ms, day, "d", hour, "h");
}

/** A duration as measured: milliseconds up to a second. */
export const durationWords = (ms: number): string =>
  ms < second ? `${Math.round(ms)} ms` : ms < minute ? `${Number((ms / second).toFixed(2))} s` : lengthWords(ms);

const round = (seconds: number): string => Number(seconds.toFixed(1)).toString();

function two(ms: number, large: number, largeName: string, small: number, smallName: string): string {
  const larges = Math.floor(ms / large);
  const smalls = Math.floor((ms % large) / small);
  return smalls === 0 ? `${larges} ${largeName}` : `${larges} ${largeName} ${smalls} ${smallName}`;
}

export const agoWords = (at: number, now: number): string =>
  now - at < second ? "just now" : `${firstUnit(now - at)} ago`;

/** One unit is enough for "ago". */
const firstUnit = (ms: number): string => lengthWords(ms).split(" ").slice(0, 2).join(" ");

export interface ClockOptions {
  readonly utc: boolean;
  readonly millis?: boolean;
}

const pad = (value: number, digits = 2): string => `${value}`.padStart(digits, "0");

/** `14:46:12.104` */
export function clockOf(at: number, { utc, millis = true }: ClockOptions): string {
  const date = new Date(at);
  const [h, m, s, ms] = utc
    ? [date.getUTCHours(), date.getUTCMinutes(), date.getUTCSeconds(), date.getUTCMilliseconds()]
    : [date.getHours(), date.getMinutes(), date.getSeconds(), date.getMilliseconds()];
  return `${pad(h)}:${pad(m)}:${pad(s)}${millis ? `.${pad(ms, 3)}` : ""}`;
}

// Made once: making one takes longer than drawing the row it stands in.
const dayFormats = [false, true].map((utc) =>
  [false, true].map(
    (hasYear) =>
      new Intl.DateTimeFormat("en-GB", {
        day: "numeric",
        month: "short",
        ...(hasYear ? { year: "numeric" } : {}),
        ...(utc ? { timeZone: "UTC" } : {}),
      }),
  ),
);

/** `15 May`, with the year when it is another one. */
export function dateOf(at: number, now: number, utc: boolean): string {
  const hasYear = new Date(at).getFullYear() !== new Date(now).getFullYear();
  return dayFormats[Number(utc)]![Number(hasYear)]!.format(at);
}

const dayOf = (at: number, utc: boolean): string => {
  const date = new Date(at);
  return utc ? `${date.getUTCFullYear()} ${date.getUTCMonth()} ${date.getUTCDate()}` : date.toDateString();
};

export const isSameDay = (a: number, b: number, utc: boolean): boolean => dayOf(a, utc) === dayOf(b, utc);

/** Date and time, the date left out today. */
export const instantOf = (at: number, now: number, options: ClockOptions): string =>
  isSameDay(at, now, options.utc) ? clockOf(at, options) : `${dateOf(at, now, options.utc)}, ${clockOf(at, options)}`;

/** For a narrow column: `14:46:12.104` today, `15 May 14:46` before. */
export const shortInstantOf = (at: number, now: number, utc: boolean): string =>
  isSameDay(at, now, utc)
    ? clockOf(at, { utc })
    : `${dateOf(at, now, utc)} ${clockOf(at, { utc, millis: false }).slice(0, 5)}`;

/** To the minute, for sentences and sums: "yesterday 15:00", "14:07", "8 May, 09:00". */
export function minuteOf(at: number, now: number, utc: boolean): string {
  const clock = clockOf(at, { utc, millis: false }).slice(0, 5);
  if (isSameDay(at, now, utc)) return clock;
  return isSameDay(at, now - day, utc) ? `yesterday ${clock}` : `${dateOf(at, now, utc)}, ${clock}`;
}

export const zoneName = (utc: boolean): string => (utc ? "UTC" : Intl.DateTimeFormat().resolvedOptions().timeZone);
