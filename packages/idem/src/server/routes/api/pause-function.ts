// A function is paused, and starts runs again.
import { z } from "zod";
import { resumePart, waitingChoices } from "../../../engine/resume-function.ts";
import { apiRoute } from "../../api/api-route.ts";
import { functionItem, functionItemIn } from "../../api/function-shape.ts";
import { reasonField } from "../../api/reason.ts";

/** It starts no runs until it is resumed; its events are kept, decided as paused. Open runs go on. */
export const pauseFunction = apiRoute({
  method: "POST",
  path: "/api/functions/:function/pause",
  summary: "Pause a function: it starts no runs, its events are kept and open runs go on",
  tag: "functions",
  body: { reason: reasonField.optional().describe("Why; kept in the audit") },
  answer: z.object({ changed: z.boolean(), function: functionItem }),
  handle: async ({ params, body, engine, actor }) => {
    const fn = params.function!;
    const { changed } = await engine.pause({ fn, paused: true, reason: body.reason ?? "", actor: actor.name });
    return { changed, function: await functionItemIn(engine, fn) };
  },
});

/** The events decided as paused meanwhile go as `waiting` says, a bounded number of them in one request. */
export const resumeFunction = apiRoute({
  method: "POST",
  path: "/api/functions/:function/resume",
  summary: "Let a paused function start runs again, and keep, release or drop the events that were paused",
  tag: "functions",
  body: {
    reason: reasonField.optional().describe("Why; kept in the audit"),
    waiting: z
      .enum(waitingChoices)
      .optional()
      .describe("What becomes of its paused events; they are kept as they are unless told. The oldest come first"),
    next: z
      .number()
      .int()
      .min(0)
      .optional()
      .describe("`next` of the answer before: there were more than one request decides"),
  },
  answer: z.object({
    changed: z.boolean(),
    function: functionItem,
    decided: z.number().int().describe("How many events were released or dropped by this request"),
    next: z
      .number()
      .int()
      .nullable()
      .describe("Send the same request with it to go on; null once all are decided and the function is resumed"),
  }),
  handle: async ({ params, body, engine, actor }) => {
    const fn = params.function!;
    const { reason = "", waiting = "keep", next = null } = body;
    const part = await resumePart(engine, fn, { reason, waiting, next, actor: actor.name });
    return { ...part, function: await functionItemIn(engine, fn) };
  },
});
