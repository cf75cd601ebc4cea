// The same answers over HTTP, for schedulers that call a URL (Vercel cron and alike): 200 when the tick is done, by this call or an earlier
// one, and 409 when asking again now would be wrong.
import { createHash, timingSafeEqual } from "node:crypto";
import { errors, type IdemError } from "../../model/errors.ts";
import { problemOf, problemType } from "../../protocol/problem.ts";
import type { TickAnswer } from "./run-tick.ts";

const hashOf = (text: string): Buffer => createHash("sha256").update(text).digest();

/** As a hash, so that neither length nor content shows in the time it takes. */
export function isAllowed(request: Request, secret: string): boolean {
  return timingSafeEqual(hashOf(request.headers.get("authorization") ?? ""), hashOf(`Bearer ${secret}`));
}

export const refuseRequest = (): Response =>
  problem(errors.UNAUTHORIZED({ why: "its Authorization header is not that of the scheduler" }));

export function responseOf(schedule: string, answer: TickAnswer<unknown>): Response {
  switch (answer.kind) {
    case "done":
    case "none":
      return json(answer);
    case "duplicate":
      return json(answer, { "idempotent-replayed": "true" });
    case "in-flight":
      return problem(errors.TICK_IN_FLIGHT({ schedule, at: answer.at.toISOString() }), {
        "retry-after": String(Math.max(1, Math.ceil(answer.leaseLeftMs / 1_000))),
      });
    case "lost":
      return problem(errors.TICK_IN_FLIGHT({ schedule, at: answer.at.toISOString() }), { "retry-after": "1" });
    case "parked":
      return problem(errors.TICK_PARKED({ schedule, at: answer.at.toISOString() }));
  }
}

export const json = (body: unknown, headers: Record<string, string> = {}): Response =>
  new Response(JSON.stringify(body), { headers: { "content-type": "application/json", ...headers } });

function problem(error: IdemError, headers: Record<string, string> = {}): Response {
  const body = problemOf(error);
  return new Response(JSON.stringify(body), {
    status: body.status,
    headers: { "content-type": problemType, ...headers },
  });
}
