// Tells tidings once, to the log and to programs that listen. Nothing is built for tidings that none of them hears.
import type { Logger } from "../execute/function-code.ts";
import { type LogFields, type LogStyle, ownLogger, type Say, sayingIn, styleOf } from "../execute/log-style.ts";
import { errors } from "../model/errors.ts";
import { levelOf, type Tidings, type TidingsKind, type TidingsOf, tidingsKinds, told } from "../model/tidings.ts";
import type { Platform, Timer } from "../platform/platform.ts";

export type Listener<K extends TidingsKind = TidingsKind> = (tidings: TidingsOf<K>) => unknown;

export interface TellingOptions {
  readonly logger: Logger;
  /** The way the logger is called; by default found out by looking at it. */
  readonly style?: LogStyle | undefined;
  readonly platform: Pick<Platform, "monoMs" | "timer">;
}

// More lines than a person reads in a second hide what the others say. Loggers that collect fields get everything.
const linesPerSecond = 20;
// So many things that are said seldom are remembered at once.
const seldomMax = 1_000;

export class Telling {
  /** The logger as it was given, for the code of functions. */
  readonly given: Logger;
  /** For Idem's own rooms, which write a text and, sometimes, an error. */
  readonly logger: Logger;
  private readonly say: Say;
  private readonly style: LogStyle;
  private readonly platform: TellingOptions["platform"];
  private readonly listeners = new Map<TidingsKind, Set<Listener>>();
  private readonly seldom = new Map<string, { readonly until: number; more: number }>();
  private lines = 0;
  private untold = 0;
  private pause: Timer | null = null;

  constructor({ logger, style = styleOf(logger), platform }: TellingOptions) {
    this.given = logger;
    this.logger = ownLogger(logger, style);
    this.style = style;
    this.say = sayingIn(logger, style);
    this.platform = platform;
  }

  /** The listener hears of it after the commit that made it true; what it throws is logged. Returns how to stop listening. */
  on<K extends TidingsKind>(kind: K, listener: Listener<K>): () => void {
    if (!tidingsKinds.includes(kind)) {
      throw errors.OPTION_INVALID({ option: "on", why: `"${kind}" is none of ${tidingsKinds.join(", ")}` });
    }
    if (typeof listener !== "function")
      throw errors.OPTION_INVALID({ option: "on", why: "it needs a function to call" });
    const of = this.listeners.get(kind) ?? new Set();
    this.listeners.set(kind, of);
    // The same function may listen twice; each stops by itself.
    const heard: Listener = (tidings) => listener(tidings as TidingsOf<K>);
    of.add(heard);
    return () => void of.delete(heard);
  }

  /** Whether a program listens: without one, tidings that the log does not say need not be put together. */
  hears(kind: TidingsKind): boolean {
    return (this.listeners.get(kind)?.size ?? 0) > 0;
  }

  /** Never throws: whatever listens must not change what happens to a run. */
  tell(tidings: Tidings): void {
    const more = this.moreOf(tidings);
    if (more !== null) this.log(tidings, more);
    // A program counts for itself: it hears of each.
    for (const listener of this.listeners.get(tidings.kind) ?? []) this.call(listener, tidings);
  }

  private call(listener: Listener, tidings: Tidings): void {
    const failed = (error: unknown) =>
      this.logger.error(`idem: a listener of "${tidings.kind}" failed`, error instanceof Error ? error : String(error));
    try {
      const answer = listener(tidings);
      if (answer instanceof Promise) answer.catch(failed);
    } catch (error) {
      failed(error);
    }
  }

  private log(tidings: Tidings, more: number): void {
    const level = levelOf(tidings);
    if (level === null || !this.mayWrite()) return;
    const { sentence } = told[tidings.kind];
    const text = (sentence as (of: Tidings) => string)(tidings);
    const repeated = more === 0 ? "" : ` (and ${more} more like it since this was last said)`;
    try {
      this.say(level, `${text}${repeated}`, fieldsOf(tidings, more), "error" in tidings ? tidings.error : null);
    } catch {
      // A logger that throws has nowhere to say so.
    }
  }

  /** The number of such tidings left out since the last one; null when this one is. */
  private moreOf(tidings: Tidings): number | null {
    const { seldom } = told[tidings.kind] as { seldom?: { ms: number; about: (of: Tidings) => string } };
    if (seldom === undefined) return 0;
    const about = `${tidings.kind} ${seldom.about(tidings)}`;
    const now = this.platform.monoMs();
    const last = this.seldom.get(about);
    if (last !== undefined && now < last.until) {
      last.more++;
      return null;
    }
    // Last said stands last: the first of the map has been quiet the longest.
    this.seldom.delete(about);
    this.seldom.set(about, { until: now + seldom.ms, more: 0 });
    if (this.seldom.size > seldomMax) this.seldom.delete(this.seldom.keys().next().value!);
    return last?.more ?? 0;
  }

  private mayWrite(): boolean {
    if (this.style !== "lines") return true;
    if (this.lines === linesPerSecond) {
      this.untold++;
      return false;
    }
    this.lines++;
    this.pause ??= this.platform.timer(1_000, () => this.nextSecond(), { background: true });
    return true;
  }

  private nextSecond(): void {
    const { untold } = this;
    this.pause = null;
    this.lines = 0;
    this.untold = 0;
    if (untold > 0) this.logger.warn(`idem: ${untold} more warnings and errors were not written within a second`);
  }
}

function fieldsOf(tidings: Tidings, more: number): LogFields {
  const { error: _error, ...rest } = tidings as Tidings & { error?: unknown };
  const fields: Record<string, unknown> = { ...rest };
  for (const name of ["failedAt", "retryAt", "since"]) {
    if (typeof fields[name] === "number") fields[name] = new Date(fields[name]).toISOString();
  }
  return more === 0 ? fields : { ...fields, more };
}
