// idem pause: a function starts no runs until it is resumed; its events are kept.
import { type Command, serverOptions } from "../command.ts";
import { printable } from "../printable.ts";
import { when } from "../times.ts";

export const pause: Command = {
  name: "pause",
  summary: "stop a function from starting runs; its events are kept, open runs go on",
  usage: "<function> [--reason <text>]",
  words: { min: 1, max: 1 },
  options: { reason: { value: "text", help: "why; kept in the store's audit" }, ...serverOptions },
  details: [
    "What is paused already stays so; asking twice changes nothing. `idem resume` says what becomes of the events.",
  ],
  examples: ["idem pause draft-invoice", 'idem pause draft-invoice --reason "wrong price list"'],
  async run(context) {
    const name = context.words[0]!;
    const fn = await context.read(async (reading) => reading.slugOf(name));
    const { reason = "" } = context.options;
    const answer = await context.write((ask) => ask("pause", context.env, { function: fn, reason }));
    if (context.isJson) context.json({ function: fn, ...answer });
    else if (answer.changed) context.say(`function ${printable(name)} is paused: its events wait, open runs go on`);
    else context.say(`function ${printable(name)} was paused already, since ${when(answer.pausedAt, context.now())}`);
    return 0;
  },
};
