// Cron schedules as people write them: five fields, optionally after a zone, "TZ=Europe/Paris 0 9 * * 1".
// Only what every cron knows is taken: extensions such as "L" or "?" mean different things to different readers.
import { Cron } from "croner";
import { errors } from "./errors.ts";

export interface CronSchedule {
  /** An IANA zone; null means UTC. */
  readonly zone: string | null;
  /** The five fields, separated by single spaces. */
  readonly fields: string;
}

// The longest sensible one lists every minute and hour, about 250 characters; longer text is not a schedule.
const textLengthMax = 400;

const names = new Set("SUN MON TUE WED THU FRI SAT JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC".split(" "));

// Any fixed instant will do: whether a schedule ever comes does not depend on when it is asked.
const askedFrom = new Date(Date.UTC(2026, 0, 1));

/** Throws CRON_INVALID. */
export function parseCron(text: string): CronSchedule {
  const refuse = (why: string, cause?: unknown) =>
    errors.CRON_INVALID(
      { value: String(text).slice(0, textLengthMax), why },
      cause === undefined ? undefined : { cause },
    );
  if (typeof text !== "string") throw errors.CRON_INVALID({ value: typeof text, why: "it is not a string" });
  if (text.length > textLengthMax) throw refuse(`it is longer than ${textLengthMax} characters`);
  const parts = text.trim().split(/[ \t]+/);
  const zone = parts[0]!.startsWith("TZ=") ? parts.shift()!.slice("TZ=".length) : null;
  if (zone !== null && !isZone(zone)) throw refuse(`"${zone}" is not a zone such as Europe/Paris`);
  if (parts.length !== 5 || parts[0] === "") {
    throw refuse(`it has ${parts[0] === "" ? 0 : parts.length} fields, not five`);
  }
  for (const part of parts) {
    const strange = /[^0-9A-Za-z*,/-]/.exec(part)?.[0] ?? part.match(/[A-Za-z]+/g)?.find((word) => !isName(word));
    if (strange !== undefined) throw refuse(`"${strange}" is not known in a field`);
  }
  const fields = parts.join(" ");
  let next: Date | null;
  try {
    next = new Cron(fields, { mode: "5-part", timezone: zone ?? "UTC" }).nextRun(askedFrom);
  } catch (error) {
    throw refuse(error instanceof Error ? error.message.replace(/^CronPattern: /, "") : String(error), error);
  }
  if (next === null) throw refuse("no such day ever comes");
  return { zone, fields };
}

const isName = (word: string): boolean => names.has(word.toUpperCase());

function isZone(zone: string): boolean {
  // Offsets such as "+02:00" are no zones: they know no summer time, and not every runtime takes them.
  if (!/^[A-Za-z][A-Za-z0-9_+-]*(\/[A-Za-z0-9_+-]+)*$/.test(zone)) return false;
  try {
    new Intl.DateTimeFormat("en", { timeZone: zone });
    return true;
  } catch {
    return false;
  }
}
