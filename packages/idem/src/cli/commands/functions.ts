// idem functions: what is registered in the store.

import { lengthText } from "../../model/duration.ts";
import type { FunctionConfig } from "../../model/function-config.ts";
import { countPending, pendingCount } from "../../observe/pending-counts.ts";
import { type Command, storeOptions } from "../command.ts";
import { printable } from "../printable.ts";
import { flowText } from "../show-flow.ts";
import { table } from "../table.ts";

export const functions: Command = {
  name: "functions",
  summary: "list the functions registered in the store, with triggers, keys and limits",
  usage: "",
  words: { min: 0, max: 0 },
  options: storeOptions,
  details: ["PENDING counts events that wait to be decided; `idem events --pending` lists them."],
  examples: ["idem functions", "idem functions --env staging --json"],
  async run(context) {
    return context.read(async ({ reads }) => {
      const { functions: registered } = await reads.functions(context.env);
      const { dueByFunction } = await reads.counts(context.env);
      const pending = await countPending(reads, context.env);
      const list = registered.map(({ config, ...rest }) => ({
        ...rest,
        config: JSON.parse(config) as FunctionConfig,
        dueCount: dueByFunction[rest.fn] ?? 0,
        pending: pending(rest.fn),
      }));
      if (context.isJson) {
        context.json(list);
        return 0;
      }
      if (list.length === 0) {
        context.remark(`No functions are registered in environment "${context.env}".`);
        return 0;
      }
      const { io, paint } = context;
      io.out.write(
        table(
          [
            { title: "FUNCTION" },
            { title: "APP" },
            { title: "TRIGGERS", shrinks: true },
            { title: "KEY", shrinks: true, paint: (cell) => (cell === "none" ? paint.yellow(cell) : cell) },
            { title: "WINDOW" },
            { title: "LIMITS", shrinks: true },
            { title: "RETRIES", align: "right" },
            { title: "DUE", align: "right" },
            { title: "PENDING", align: "right" },
            { title: "" },
          ],
          list.map(({ id, app, config, pausedAt, dueCount, pending: waiting }) => [
            printable(id),
            printable(app),
            printable(
              config.triggers.map((trigger) => ("event" in trigger ? trigger.event : trigger.cron)).join(", "),
            ) || "–",
            printable(config.idempotency?.key ?? "none"),
            config.idempotency === null
              ? "–"
              : `${lengthText(config.idempotency.windowMs)}${config.idempotency.untilFinished ? ", until finished" : ""}`,
            printable(flowText(config)),
            String(config.retries),
            String(dueCount),
            `${pendingCount(waiting)}${waiting.isAll ? "" : "+"}`,
            pausedAt === null ? "" : "paused",
          ]),
          { columns: io.out.columns, bold: paint.bold },
        ),
      );
      return 0;
    });
  },
};
