// idem drop: a paused or held event is let go of for good.
import { type Command, serverOptions } from "../command.ts";
import { decideEvent } from "../decide-event.ts";

export const drop: Command = {
  name: "drop",
  summary: "let go of a paused or held event for good",
  usage: "<event id> [--function <id>] [--reason <text>]",
  words: { min: 1, max: 1 },
  options: {
    function: { value: "id", help: "for this function; needed when the event waits for several" },
    reason: { value: "text", help: "why; kept with the decision and in the store's audit" },
    ...serverOptions,
  },
  details: ["The event itself stays stored, decided as dropped. A step that waited for its run gets an error."],
  examples: [
    'idem drop 01JZZ4Q8X5T2M7N0B6E3R9V1KD --reason "a test order"',
    "idem drop order-paid-7 --function draft-invoice",
  ],
  run: (context) => decideEvent(context, "drop"),
};
