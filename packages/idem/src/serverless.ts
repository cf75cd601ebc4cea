/**
 * Hosts whose processes do not stay: what their schedulers call to have done what is due, on a store in PostgreSQL.
 *
 * ```ts
 * // app/api/sweep/route.ts, called by Vercel's cron every minute
 * export const GET = vercelCron(idem, { budget: "20s" });
 * ```
 */
export type { Swept } from "./engine/sweep.ts";
export type { SweepOptions } from "./sdk/client-options.ts";
export {
  type CronOptions,
  cloudflareCron,
  lambdaSchedule,
  netlifySchedule,
  vercelCron,
} from "./toolkit/sweep/host-handlers.ts";
