// idem resume: a paused function starts runs again; its paused events are kept, released or dropped.
import type { Waiting } from "../../engine/resume-function.ts";
import { countPending } from "../../observe/pending-counts.ts";
import { inParts } from "../../sdk/functions-api.ts";
import { type Command, type Context, serverOptions } from "../command.ts";
import { usage } from "../exit.ts";
import { printable } from "../printable.ts";
import { showProgress } from "../progress.ts";

export const resume: Command = {
  name: "resume",
  summary: "let a paused function start runs again, and say what becomes of the events that were paused",
  usage: "<function> [--release | --drop] [--reason <text>]",
  words: { min: 1, max: 1 },
  options: {
    release: { help: "its paused events start what they would have started, the oldest first" },
    drop: { help: "its paused events are let go of for good" },
    reason: { value: "text", help: "why; kept in the store's audit" },
    ...serverOptions,
  },
  details: [
    "Without --release or --drop the events that were paused stay so, to be decided later. What is released starts before newer",
    "events may. Stopped in the middle, the same command goes on where it was.",
  ],
  examples: [
    "idem resume draft-invoice",
    "idem resume draft-invoice --release",
    'idem resume draft-invoice --drop --reason "sent again by the shop"',
  ],
  async run(context) {
    const name = context.words[0]!;
    const waiting = waitingOf(context);
    const { fn, paused } = await context.read(async (reading) => {
      const slug = reading.slugOf(name);
      const counts = (await countPending(reading.reads, context.env, slug))(slug);
      return { fn: slug, paused: counts.isAll ? counts.paused : null };
    });
    const { reason = "" } = context.options;
    const verb = waiting === "drop" ? "dropped" : "released";
    const progress = showProgress(context.io, `${verb} events`);
    const answer = await context
      .write((ask) =>
        inParts(
          (next) => ask("resume", context.env, { function: fn, reason, waiting, next }),
          (decided) => progress.update(decided, paused),
        ),
      )
      .finally(() => progress.end());
    if (context.isJson) {
      context.json({ function: fn, ...answer });
      return 0;
    }
    context.say(
      `function ${printable(name)} ${answer.changed ? "starts runs again" : "was not paused"}${
        waiting === "keep" ? "" : `; ${answer.decided} events ${verb}`
      }`,
    );
    if (waiting === "keep" && paused !== 0) {
      context.remark(
        `${paused ?? "Many"} paused events still wait: --release starts them, --drop lets go of them; idem events --pending --function ${printable(name)} lists them.`,
      );
    }
    return 0;
  },
};

function waitingOf({ flags }: Context): Waiting {
  if (flags.has("release") && flags.has("drop")) throw usage("Give --release or --drop, not both.");
  return flags.has("release") ? "release" : flags.has("drop") ? "drop" : "keep";
}
