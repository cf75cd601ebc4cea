// Ticks of a schedule that an outside scheduler calls, at least once and now and then twice. The tick, not the call, is what happens
// once: the first call runs it, a later one gets its outcome, and one whose call died is resumed or parked, as its author chose.

import { parseDuration } from "../../model/duration.ts";
import { errors } from "../../model/errors.ts";
import { refuseUnknown } from "../../model/known-options.ts";
import { nodePlatform } from "../../platform/node-platform.ts";
import type { Platform } from "../../platform/platform.ts";
import { claimsIn, resolve } from "../claim/claims.ts";
import { leaseMsOf } from "../claim/keep-lease.ts";
import type { Adapter } from "../sql/adapter.ts";
import { isAllowed, refuseRequest, responseOf } from "./answer-request.ts";
import { cronOf, dueTick, earlyByMs, isTick } from "./due-tick.ts";
import { runTick, type TickAnswer, type TickTask } from "./run-tick.ts";
import { listUnfinished, readNow, tickAt, type UnfinishedTick } from "./tick-claims.ts";

export interface CronTickOptions {
  /** The schedule's name; with the instant, it is the tick's key. */
  readonly id: string;
  /** Five fields, as the scheduler has them: "0 9 * * *". */
  readonly schedule: string;
  /** An IANA zone; UTC by default, as at Vercel. */
  readonly zone?: string;
  /** Required: what becomes of a tick whose first call died or threw. */
  readonly onCrash: "resume" | "park";
  /** A heartbeat goes out every third of it. Default "60s". */
  readonly lease?: string | number;
  /** A call this long before a tick waits for it: a scheduler whose clock is ahead would miss it. Default "2m", 0 never waits. */
  readonly early?: string | number;
  /** Requests must carry `Authorization: Bearer <secret>`. */
  readonly secret?: string;
  /** An alert: somebody has to find out how far it came. `console.error` by default. */
  readonly onParked?: (at: Date) => void;
  readonly platform?: Platform;
}

export interface CronTick<T> {
  (): Promise<TickAnswer<T>>;
  /** For a route: `export const GET = cronTick(…)`. */
  (request: Request, ...rest: unknown[]): Promise<Response>;
  /** By hand, for one instant of the schedule: to go on with one that died, or to run one that nobody called. */
  at(instant: Date | number): Promise<TickAnswer<T>>;
  /** Ticks that died or are parked, oldest first. */
  unfinished(): Promise<readonly UnfinishedTick[]>;
  /** A person found out how far a parked one came. False: it is not parked. */
  resolve(instant: Date | number, what: "done" | "resume"): Promise<boolean>;
}

export function cronTick<T>(adapter: Adapter<unknown>, options: CronTickOptions, task: TickTask<T>): CronTick<T> {
  refuseUnknown<CronTickOptions>("cronTick", options, {
    id: true,
    schedule: true,
    zone: true,
    onCrash: true,
    lease: true,
    early: true,
    secret: true,
    onParked: true,
    platform: true,
  });
  const { id, onCrash, platform = nodePlatform, secret } = options;
  if (typeof id !== "string" || id === "" || id.length > 256) throw refuse("id", "it must be 1 to 256 characters");
  if (onCrash !== "resume" && onCrash !== "park") throw refuse("onCrash", 'it is required: "resume" or "park"');
  // An environment variable that is not set would leave the route open.
  if ("secret" in options && (secret === undefined || secret === "")) throw refuse("secret", "it is given, but empty");
  const cron = cronOf(options.schedule, options.zone);
  const earlyMs = parseDuration(options.early ?? "2m", "early");
  const claims = claimsIn(adapter);
  const running = {
    claims,
    platform,
    schedule: id,
    onCrash,
    leaseMs: leaseMsOf("cronTick", options.lease ?? "60s"),
    onParked:
      options.onParked ?? ((at: Date) => console.error(`Idem cron tick: ${id} of ${at.toISOString()} is parked`)),
    task,
  };

  const runDue = async (): Promise<TickAnswer<T>> => {
    for (;;) {
      const now = await claims(readNow);
      const due = dueTick(cron, now);
      const answer: TickAnswer<T> = due.last === null ? { kind: "none" } : await runTick(running, due.last);
      const waitMs = answer.kind === "done" ? null : earlyByMs(due, now, earlyMs);
      if (waitMs === null) return answer;
      await new Promise<void>((resolve) => platform.timer(waitMs, resolve));
    }
  };

  const call = async (request?: Request): Promise<TickAnswer<T> | Response> => {
    if (request === undefined) return runDue();
    if (secret !== undefined && !isAllowed(request, secret)) return refuseRequest();
    return responseOf(id, await runDue());
  };
  return Object.assign(call, {
    at: async (instant: Date | number) => {
      if (!isTick(cron, Number(instant))) throw refuse("at", "it is not an instant of the schedule");
      // The database's clock has not come to it, whatever the caller's says.
      if (Number(instant) > (await claims(readNow))) return { kind: "none" };
      return runTick(running, Number(instant));
    },
    unfinished: () => claims((sql) => listUnfinished(sql, id)),
    resolve: (instant: Date | number, what: "done" | "resume") =>
      claims((sql) => resolve(sql, tickAt(id, Number(instant)), what === "done" ? "null" : null)),
  }) as CronTick<T>;
}

const refuse = (option: string, why: string) => errors.TOOLKIT_OPTION_INVALID({ call: "cronTick", option, why });
