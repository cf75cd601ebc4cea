// `verifyTick`: a handler that a scheduler calls, twice, again after a crash, or not at all.
import { nextTick } from "../model/cron.ts";
import { errors } from "../model/errors.ts";
import { type KnownOptions, refuseUnknown } from "../model/known-options.ts";
import type { SentCall } from "../verify/calls/call-script.ts";
import { firstStart, secondStart } from "../verify/function-script.ts";
import type { HeldReport } from "./held-report.ts";
import type { WorldOptions } from "./verify.ts";
import { type ExportedHandler, type GivenRequest, readRequest, verifyHandler } from "./verify-handler.ts";

export interface VerifyTickOptions extends WorldOptions {
  /** When it is called: "0 9 * * *", in UTC, or "TZ=Europe/Paris 0 9 * * 1". */
  readonly cron: string;
  /** The scheduler's request, where it calls an address; without one the handler is called with nothing. */
  readonly request?: GivenRequest;
}

const known: KnownOptions<VerifyTickOptions> = {
  cron: true,
  request: true,
  fixtures: true,
  accept: true,
  seed: true,
  schedule: true,
  cwd: true,
};

// A scheduler is never on time.
const lateMs = 2_000;

/**
 * If the scheduler calls this tick twice, does its work happen once? At two processes at the same moment, a minute later, after each death. And is the next
 * tick new work, also where one was missed?
 *
 * ```ts
 * const digest = { module: "src/digest.ts", export: "GET" };
 * (await verifyTick(digest, { cron: "0 9 * * *", request: { method: "GET", url: "/api/digest" } })).assertHeld();
 * ```
 */
export async function verifyTick(handler: ExportedHandler, options: VerifyTickOptions): Promise<HeldReport> {
  refuseUnknown<VerifyTickOptions>("verifyTick", options, known);
  const { cron, request } = options;
  const tick = tickAfter(cron, firstStart);
  const everyMs = tickAfter(cron, tick + 1) - tick;
  const { data: _, ...sent } = await readRequest(request ?? {});
  const what = `the tick of ${cron}`;
  const first: SentCall = { ...sent, what, signing: null };
  return verifyHandler(
    {
      by: "verifyTick",
      id: handler?.export ?? "default",
      handler,
      isPlain: request === undefined,
      sender: "scheduler",
      calls: { first },
      startsMs: [tick + lateMs, tickAfter(cron, secondStart) + lateMs],
      everyMs,
      noTwin: null,
    },
    options,
  );
}

/** The first at or after this instant. Throws CRON_INVALID. */
function tickAfter(cron: string, at: number): number {
  const tick = nextTick(cron, at - 1);
  if (tick === null) throw errors.OPTION_INVALID({ option: "cron", why: `"${cron}" never comes` });
  return tick;
}
