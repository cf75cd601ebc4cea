// Called by schedulers of hosts without a process that stays: each a few lines around `idem.sweep` (docs/serverless.md).
import type { Swept } from "../../engine/sweep.ts";
import { errors } from "../../model/errors.ts";
import { environmentVariable } from "../../platform/node-platform.ts";
import type { SweepOptions } from "../../sdk/client-options.ts";
import { isAllowed, json, refuseRequest } from "../cron-tick/answer-request.ts";

/** A client of any schemas. */
interface Sweeping {
  sweep(options?: SweepOptions): Promise<Swept>;
}

export interface CronOptions extends SweepOptions {
  /** Sent by the scheduler as `Authorization: Bearer …`; CRON_SECRET by default. */
  readonly secret?: string;
}

/** A route that Vercel's cron calls, or any scheduler that sends a bearer token. Without it a request is refused, and nothing is done. */
export function vercelCron(
  idem: Sweeping,
  { secret, ...options }: CronOptions = {},
): (request: Request) => Promise<Response> {
  return async (request) => {
    const wanted = secret ?? environmentVariable("CRON_SECRET");
    if (wanted === undefined || wanted === "") {
      throw errors.OPTION_INVALID({
        option: "secret",
        why: "it must be given, or CRON_SECRET set: anybody could call this",
      });
    }
    return isAllowed(request, wanted) ? json(await idem.sweep(options)) : refuseRequest();
  };
}

/** A scheduled function of Netlify, which nobody else can call: `export default netlifySchedule(idem)`. */
export const netlifySchedule =
  (idem: Sweeping, options?: SweepOptions): (() => Promise<Response>) =>
  async () =>
    json(await idem.sweep(options));

/** Left of an invocation for the answer, after its budget. */
const answerMs = 1_000;

/** A handler of AWS Lambda for EventBridge Scheduler. Unless a budget is given, the time that is left of the invocation is. */
export const lambdaSchedule =
  (idem: Sweeping, options?: SweepOptions) =>
  async (_event: unknown, context: { getRemainingTimeInMillis(): number }): Promise<Swept> => {
    const budget = options?.budget ?? Math.min(Math.max(context.getRemainingTimeInMillis() - answerMs, 1_000), 900_000);
    return idem.sweep({ budget });
  };

/** `export default { scheduled: cloudflareCron(idem) }`. */
export const cloudflareCron =
  (idem: Sweeping, options?: SweepOptions) =>
  (_controller: unknown, _env: unknown, context: { waitUntil(work: Promise<unknown>): void }): void => {
    context.waitUntil(idem.sweep(options));
  };
