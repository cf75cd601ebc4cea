// Raises or lowers for a while the number of a function's runs that may be at work; afterwards it counts as configured.
import { z } from "zod";
import { type LimitNow, limitFunction, limitMax } from "../../../engine/limit-function.ts";
import { parseDuration } from "../../../model/duration.ts";
import { apiRoute } from "../../api/api-route.ts";
import { reasonField } from "../../api/reason.ts";

const which = z
  .number()
  .int()
  .min(1)
  .max(2)
  .optional()
  .describe("Which of its limits, from 1; needed where it has two");
const reason = reasonField.describe("Why; kept in the audit");

const limits = z
  .array(
    z.object({
      limit: z.number().int(),
      key: z.string().nullable().describe("CEL over `event`: one limit for each value"),
      scope: z.enum(["fn", "env", "account"]),
      own: z.number().int().describe("What its configuration says"),
      until: z.number().int().nullable().describe("Until when another limit stands in for its own"),
    }),
  )
  .describe("As they count now");
const answer = z.object({ limits });

const told = (now: readonly LimitNow[]) => ({ limits: now.map((each) => ({ ...each })) });

/** Nobody at work is stopped. Those in line come in as soon as there is room by the new limit. */
export const raiseLimit = apiRoute({
  method: "PUT",
  path: "/api/functions/:function/limit",
  summary: "Raise or lower how many runs of a function may be at work, for a while; it ends by itself",
  tag: "functions",
  body: {
    concurrency: z.number().int().min(1).max(limitMax),
    for: z.string().min(1).max(32).describe('From "1m" to "7d"'),
    which,
    reason,
  },
  answer,
  handle: async ({ params, body, engine, actor }) =>
    told(
      await limitFunction(engine, params.function!, {
        concurrency: body.concurrency,
        forMs: parseDuration(body.for, "for"),
        which: body.which ?? null,
        reason: body.reason,
        actor: actor.name,
      }),
    ),
});

export const endLimit = apiRoute({
  method: "DELETE",
  path: "/api/functions/:function/limit",
  summary: "Let a function's own limit count again before the temporary one ends",
  tag: "functions",
  body: { which, reason },
  answer,
  handle: async ({ params, body, engine, actor }) =>
    told(
      await limitFunction(engine, params.function!, {
        concurrency: null,
        forMs: 0,
        which: body.which ?? null,
        reason: body.reason,
        actor: actor.name,
      }),
    ),
});
