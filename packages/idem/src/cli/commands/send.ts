// idem send: one event, stored durably, with what was decided for it.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { type Command, type Context, serverOptions } from "../command.ts";
import { usage } from "../exit.ts";
import { printable } from "../printable.ts";
import { showDecisions } from "../show-decisions.ts";

export const send: Command = {
  name: "send",
  summary: "send an event and see what was decided",
  usage: "<name> [json | - | @file] [--id <id>] [--window <24h>]",
  words: { min: 1, max: 2 },
  options: {
    id: { value: "id", help: "what makes a second send of the same thing a duplicate" },
    window: { value: "24h", help: "how long that id stays taken" },
    ...serverOptions,
  },
  details: [
    "The data is JSON on the command line, - for standard input, or @file. It goes through the process that owns the store",
    "if one lives; otherwise the event is stored and its runs wait for the next process that has their functions.",
  ],
  examples: [
    `idem send order/paid '{"orderId":7}' --id order-paid-7`,
    "cat order.json | idem send order/paid -",
    "idem send order/paid @order.json --json",
  ],
  async run(context) {
    const [name, given] = context.words;
    const data = await readData(context, given);
    const { id, window } = context.options;
    const event = { name, data, ...(id === undefined ? {} : { id }) };
    const sent = await context.write((ask) =>
      ask("send", context.env, window === undefined ? { event } : { event, window }),
    );
    if (context.isJson) {
      context.json(sent);
      return 0;
    }
    context.say(`event ${sent.ids[0]}`);
    if (sent.unmatched === true)
      context.remark(`No function has a trigger for "${printable(name!)}": nothing was started.`);
    else showDecisions(context, sent.decisions);
    return 0;
  },
};

async function readData({ io }: Context, given: string | undefined): Promise<unknown> {
  if (given === undefined) return {};
  let text = given;
  if (given === "-") text = await io.readInput();
  else if (given.startsWith("@")) {
    try {
      text = readFileSync(resolve(io.cwd, given.slice(1)), "utf8");
    } catch (error) {
      throw usage(`${given.slice(1)} cannot be read: ${(error as Error).message}.`);
    }
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw usage(
      `The data is not JSON: ${(error as Error).message}. Quote it for your shell, such as '{"orderId":7}', or use - or @file.`,
    );
  }
}
