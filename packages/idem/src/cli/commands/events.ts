// idem events: the newest events, newest first.
import { type Command, countOption, serverOptions } from "../command.ts";
import { usage } from "../exit.ts";
import { listPending } from "../pending-events.ts";
import { printable, printableJson } from "../printable.ts";
import { table } from "../table.ts";
import { iso, relative } from "../times.ts";

export const events: Command = {
  name: "events",
  summary: "list events, newest first",
  usage: "[--name <event name> | --pending [--function <id>]] [--limit <50>] [--before <event id>]",
  words: { min: 0, max: 0 },
  options: {
    name: { value: "event name", help: "only events of this name" },
    pending: { help: "only events that wait to be decided: paused, held, debounced or batched" },
    function: { value: "id", help: "together with --pending: that wait for this function" },
    limit: { value: "50", help: "how many, up to 1000" },
    before: { value: "event id", help: "continue after the last event of the page before" },
    ...serverOptions,
  },
  examples: ["idem events --name order/paid", "idem events --limit 5 --json", "idem events --pending"],
  async run(context) {
    const { name, before } = context.options;
    const limit = countOption(context, "limit", 50, 1_000);
    if (context.flags.has("pending")) {
      if (name !== undefined) throw usage("Give --name or --pending, not both.");
      return context.read((reading) => listPending(context, reading, limit));
    }
    if (context.options.function !== undefined) throw usage("--function belongs to --pending.");
    return context.read(async ({ idem }) => {
      const list = await idem.events.list({
        limit,
        ...(name === undefined ? {} : { name }),
        ...(before === undefined ? {} : { before }),
      });
      if (context.isJson) {
        context.json(list);
        return 0;
      }
      if (list.length === 0) {
        context.remark("No events.");
        return 0;
      }
      const { io, paint } = context;
      const now = context.now();
      io.out.write(
        table(
          [
            { title: "EVENT" },
            { title: "NAME", shrinks: true },
            { title: "ID", shrinks: true },
            { title: "RECEIVED", drops: true },
            { title: "AGE", align: "right" },
            { title: "DUPLICATE OF", drops: true, paint: paint.yellow },
            { title: "DATA", shrinks: true },
          ],
          list.map((event) => [
            event.internalId,
            printable(event.name),
            event.id === event.internalId ? "–" : printable(event.id),
            iso(event.receivedAt),
            relative(event.receivedAt, now),
            event.duplicateOf ?? "–",
            printableJson(event.data),
          ]),
          { columns: io.out.columns, bold: paint.bold },
        ),
      );
      if (list.length === limit) context.remark(`More: --before ${list.at(-1)!.internalId}`);
      return 0;
    });
  },
};
