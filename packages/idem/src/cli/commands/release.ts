// idem release: a paused or held event starts what it would have started.
import { type Command, storeOptions } from "../command.ts";
import { decideEvent } from "../decide-event.ts";

export const release: Command = {
  name: "release",
  summary: "let a paused or held event start what it would have started",
  usage: "<event id> [--function <id>] [--reason <text>]",
  words: { min: 1, max: 1 },
  options: {
    function: { value: "id", help: "for this function; needed when the event waits for several" },
    reason: { value: "text", help: "why; kept in the store's audit" },
    ...storeOptions,
  },
  details: [
    "Also while the function is still paused. Keys and limits count as for any event: a key that was taken meanwhile makes it a",
    "duplicate. An event held because its key is missing starts without one. `idem events --pending` lists what waits.",
  ],
  examples: [
    "idem release 01JZZ4Q8X5T2M7N0B6E3R9V1KD",
    'idem release order-paid-7 --function draft-invoice --reason "looked into it"',
  ],
  run: (context) => decideEvent(context, "release"),
};
