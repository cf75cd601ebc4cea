// Shared by `idem release` and `idem drop`.
import type { Verdict } from "../engine/redecide-events.ts";
import type { Context } from "./command.ts";
import { showDecisions } from "./show-decisions.ts";

export async function decideEvent(context: Context, verdict: Verdict): Promise<number> {
  const { function: name, reason = "" } = context.options;
  const fn = name === undefined ? undefined : await context.read(async (reading) => reading.slugOf(name));
  const request = { event: context.words[0]!, verdict, reason, ...(fn === undefined ? {} : { function: fn }) };
  const decision = await context.write((ask) => ask("decide", context.env, request));
  if (context.isJson) context.json(decision);
  else {
    context.say(`event ${decision.eventId}`);
    showDecisions(context, [decision]);
  }
  return 0;
}
