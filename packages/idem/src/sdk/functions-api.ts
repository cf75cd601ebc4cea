// idem.functions: what is registered, and pausing it.
import type { Engine } from "../engine/engine.ts";
import { type LimitNow, type LimitRequest, limitFunction } from "../engine/limit-function.ts";
import { type ResumedPart, resumePart, type Waiting, waitingChoices } from "../engine/resume-function.ts";
import { type FlowConfig, flowOf } from "../flow/options.ts";
import { parseDuration } from "../model/duration.ts";
import { errors } from "../model/errors.ts";
import type { FunctionConfig, Trigger } from "../model/function-config.ts";
import { shownApp, shownName } from "../model/function-names.ts";
import { countPending, type PendingCounts } from "../observe/pending-counts.ts";
import { type OpenCounts, openOf } from "../store/reads.ts";
import { nameIn, slugIn } from "./find-subject.ts";

export interface PublicFunction {
  /** As this app calls it: by its own id if it is one of its own, else by its full name. */
  readonly id: string;
  /** `<app>-<id>`: its name in the environment. */
  readonly slug: string;
  readonly app: string;
  readonly name: string;
  readonly triggers: readonly Trigger[];
  /** How its runs are limited, spaced, gathered, put in order and cancelled; what is not configured is absent. */
  readonly flow: FlowConfig;
  /** Since when it starts no runs; null while it does. */
  readonly pausedAt: number | null;
  /** Its runs that have not ended. */
  readonly open: OpenCounts;
  /** Its events that wait to be decided. */
  readonly pending: PendingCounts;
}

export interface FunctionsApi {
  /** Every function registered in this environment. */
  list(): Promise<readonly PublicFunction[]>;
  /** Stops it from starting runs: its events are kept, decided as paused. Open runs go on. */
  pause(id: string, options?: PauseOptions): Promise<Paused>;
  /** Lets it start runs again; `waiting` says what becomes of the events decided as paused. */
  resume(id: string, options?: ResumeOptions): Promise<Resumed>;
  /** Raises or lowers how many of its runs may be at work, for a while; it ends by itself. */
  limit(id: string, options: LimitOptions): Promise<Limited>;
}

export interface LimitOptions extends PauseOptions {
  /** The most runs at work at once; null lets its own limit count again. */
  readonly concurrency: number | null;
  /** "1h": from a minute to a week. Needed unless `concurrency` is null. */
  readonly for?: string | number;
  /** Which of its limits, from 1; needed where it has two. */
  readonly which?: number;
}

export interface Limited {
  /** As they count now. */
  readonly limits: readonly LimitNow[];
}

export interface PauseOptions {
  /** Kept in the audit. */
  readonly reason?: string;
  /** The asker's name in the audit; a server fills it in itself. */
  readonly actor?: string;
}

export interface Paused {
  /** False when it was paused already. */
  readonly changed: boolean;
  readonly pausedAt: number | null;
}

export interface ResumeOptions extends PauseOptions {
  /**
   * Events decided as paused: "keep" leaves them so, "release" starts what they would have started, the oldest first and before
   * newer events may start, "drop" lets go of them for good. "keep" by default.
   */
  readonly waiting?: Waiting;
}

export interface Resumed {
  /** False when it was not paused. */
  readonly changed: boolean;
  /** The number of events released or dropped. */
  readonly decided: number;
}

export function functionsApi(engineOf: () => Promise<Engine>): FunctionsApi {
  return {
    async list() {
      const engine = await engineOf();
      const { reads } = engine.store;
      await engine.registry.refresh();
      const [{ functions }, counts, pending] = await Promise.all([
        reads.functions(engine.env),
        reads.counts(engine.env),
        countPending(reads, engine.env),
      ]);
      return functions.map(({ fn, app, config, pausedAt }): PublicFunction => {
        const read = JSON.parse(config) as FunctionConfig;
        const { name, triggers, ...rest } = read;
        return {
          id: nameIn(engine)(fn),
          slug: shownName({ app, config: read }),
          app: shownApp({ app, config: read }),
          name,
          triggers,
          flow: flowOf(rest),
          pausedAt,
          open: openOf(counts.byFunction, fn),
          pending: pending(fn),
        };
      });
    },
    async pause(id, options) {
      const engine = await engineOf();
      const fn = await slugIn(engine, id);
      const { changed, pausedAt } = await engine.pause({
        fn,
        paused: true,
        reason: options?.reason ?? "",
        actor: options?.actor,
      });
      return { changed, pausedAt };
    },
    async limit(id, options) {
      const engine = await engineOf();
      return { limits: await limitFunction(engine, await slugIn(engine, id), limitRequest(options)) };
    },
    resume: (id, options) => inParts(async (next) => resumeOnePart(await engineOf(), id, { ...options, next })),
  };
}

/** The same for every asker: a program, a command, a server for somebody else. */
export function limitRequest(options: LimitOptions): LimitRequest {
  const { concurrency, which = null, reason = "", actor } = options;
  const isEnd = concurrency === null;
  if (!isEnd && options.for === undefined)
    throw errors.OPTION_INVALID({ option: "for", why: 'it must say for how long, such as "1h"' });
  const forMs = isEnd ? 0 : parseDuration(options.for!, "for");
  return { concurrency, which, reason, actor, forMs };
}

export type ResumePartOptions = ResumeOptions & { readonly next: number | null };

export async function resumeOnePart(engine: Engine, id: string, options: ResumePartOptions): Promise<ResumedPart> {
  const { reason = "", waiting = "keep", next, actor } = options;
  if (!waitingChoices.includes(waiting)) {
    throw errors.OPTION_INVALID({ option: "waiting", why: `it must be one of ${waitingChoices.join(", ")}` });
  }
  return resumePart(engine, await slugIn(engine, id), { reason, waiting, next, actor });
}

/** One part after the other, to the end. */
export async function inParts(
  resume: (next: number | null) => Promise<ResumedPart>,
  onProgress: (decided: number) => void = () => {},
): Promise<Resumed> {
  let decided = 0;
  let changed = false;
  for (let next: number | null = null; ; ) {
    const part = await resume(next);
    changed ||= part.changed;
    decided += part.decided;
    onProgress(decided);
    if (part.next === null) return { changed, decided };
    next = part.next;
  }
}
