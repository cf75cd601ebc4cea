// Memory of earlier verifications: schedules that failed, to be played first; and effects a person accepted, with a reason and an end. It is committed
// with the code (idem.verify.json). Pure.

export interface Accepted {
  /** As findings name it: "POST metrics.local/v1/points"; a star stands for anything. */
  readonly effect: string;
  readonly because: string;
  /** The last day it holds: "2027-06-01". */
  readonly until: string;
  /** Only of this function. */
  readonly function?: string;
}

export interface VerifyMemory {
  /** Schedules that failed once, by function. */
  readonly failing: Readonly<Record<string, readonly string[]>>;
  readonly accepted: readonly Accepted[];
}

export const emptyMemory: VerifyMemory = { failing: {}, accepted: [] };

/** Enough to catch what comes back; the oldest goes. */
const failingMax = 20;

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The memory, or what is wrong with it. */
export function readMemory(written: unknown): VerifyMemory | string {
  if (!isRecord(written)) return "it must be an object with `failing` and `accepted`";
  const strange = Object.keys(written).find((name) => !["failing", "accepted"].includes(name));
  if (strange !== undefined) return `it has "${strange}", and may have only \`failing\` and \`accepted\``;
  const { failing = {}, accepted = [] } = written;
  const isNames = (names: unknown): names is string[] =>
    Array.isArray(names) && names.every((name) => typeof name === "string");
  if (!isRecord(failing) || !Object.values(failing).every(isNames)) {
    return "`failing` must hold a list of schedules for each function";
  }
  const read = readAccepted(accepted);
  return typeof read === "string" ? read : { failing: failing as VerifyMemory["failing"], accepted: read };
}

/** Entries with an effect, a reason and an end; or the first that lacks one. */
export function readAccepted(written: unknown): readonly Accepted[] | string {
  if (!Array.isArray(written)) return "what is accepted must be a list of { effect, because, until }";
  for (const entry of written as unknown[]) {
    if (!isRecord(entry)) return "what is accepted must be a list of { effect, because, until }";
    const { effect, because, until, function: of } = entry;
    const where = typeof effect === "string" && effect !== "" ? `"${effect}"` : null;
    if (where === null) return "an accepted effect has no `effect`: the name that a finding gives it";
    if (typeof because !== "string" || because.trim() === "")
      return `${where} is accepted without a reason (\`because\`)`;
    if (typeof until !== "string" || !isDay(until))
      return `${where} is accepted without an end (\`until\`, a day: "2027-06-01")`;
    if (of !== undefined && typeof of !== "string") return `${where}: \`function\` must be the id of one`;
    const strange = Object.keys(entry).find((name) => !["effect", "because", "until", "function"].includes(name));
    if (strange !== undefined) return `${where} has "${strange}", which means nothing there`;
  }
  return written as Accepted[];
}

const isDay = (text: string): boolean =>
  /^\d{4}-\d{2}-\d{2}$/.test(text) && new Date(`${text}T00:00:00Z`).toJSON()?.startsWith(text) === true;

const endOf = ({ until }: Accepted): number => Date.parse(`${until}T23:59:59.999Z`);

/** A star stands for anything. */
export function isLike(pattern: string, text: string): boolean {
  const parts = pattern.split("*").map((part) => part.replace(/[.+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${parts.join(".*")}$`).test(text);
}

const covers = ({ effect, function: of }: Accepted, asked: string, id: string): boolean =>
  (of === undefined || of === id) && isLike(effect, asked);

/** Looks effects up among the accepted entries, and remembers the entries that were used. */
export class Consent {
  private readonly used = new Set<Accepted>();

  constructor(
    private readonly entries: readonly Accepted[],
    private readonly now: number,
  ) {}

  /** Why the effect of this function is accepted; null where it is not, or no longer. */
  accepts(id: string, effect: string): string | null {
    const found = this.entries.filter((entry) => covers(entry, effect, id));
    for (const entry of found) this.used.add(entry);
    const valid = found.find((entry) => endOf(entry) >= this.now);
    return valid === undefined ? null : `${valid.because} (until ${valid.until})`;
  }

  /** Entries that are over, or that accepted nothing; the latter only where everything was looked at. */
  problems(isWhole: boolean): string[] {
    return this.entries.flatMap((entry) => {
      const { effect, until } = entry;
      if (endOf(entry) < this.now)
        return `"${effect}" was accepted until ${until}: mend it, or say again why it may be`;
      if (isWhole && !this.used.has(entry)) return `"${effect}" is accepted and was not found: take the entry out`;
      return [];
    });
  }
}

/** With what failed now, and without what can no longer happen. The same object where nothing is new. */
export function remember(
  memory: VerifyMemory,
  id: string,
  schedules: readonly string[],
  outdated: readonly string[] = [],
): VerifyMemory {
  const known = memory.failing[id] ?? [];
  const left = known.filter((each) => !outdated.includes(each));
  const fresh = schedules.filter((each) => !left.includes(each));
  if (fresh.length === 0 && left.length === known.length) return memory;
  const failing = [...new Set([...left, ...fresh])].slice(-failingMax);
  const { [id]: _, ...others } = memory.failing;
  return { ...memory, failing: failing.length === 0 ? others : { ...memory.failing, [id]: failing } };
}
