// idem runs: the newest runs, newest first.
import { isEnded, type RunState } from "../../model/run.ts";
import { runStates as states } from "../bulk-runs.ts";
import { type Command, countOption, serverOptions } from "../command.ts";
import { usage } from "../exit.ts";
import { paintState } from "../paint.ts";
import { printable } from "../printable.ts";
import { table } from "../table.ts";
import { duration, iso, relative } from "../times.ts";

export const runs: Command = {
  name: "runs",
  summary: "list runs, newest first",
  usage: "[--function <id>] [--state <state>] [--limit <50>] [--before <run id>]",
  words: { min: 0, max: 0 },
  options: {
    function: { value: "id", help: "only runs of this function" },
    state: { value: "state", help: states.join(", "), choices: states },
    limit: { value: "50", help: "how many, up to 1000" },
    before: { value: "run id", help: "continue after the last run of the page before" },
    ...serverOptions,
  },
  examples: ["idem runs --state failed", "idem runs --function draft-invoice --limit 10 --json"],
  async run(context) {
    const { state, before, function: name } = context.options;
    if (state !== undefined && !states.includes(state as RunState)) {
      throw usage(`--state is "${state}"; it must be one of ${states.join(", ")}.`);
    }
    const limit = countOption(context, "limit", 50, 1_000);
    return context.read(async ({ idem }) => {
      const list = await idem.runs.list({
        limit,
        ...(name === undefined ? {} : { function: name }),
        ...(state === undefined ? {} : { state: state as RunState }),
        ...(before === undefined ? {} : { before }),
      });
      if (context.isJson) {
        context.json(list);
        return 0;
      }
      if (list.length === 0) {
        context.remark("No runs.");
        return 0;
      }
      const { io, paint } = context;
      const now = context.now();
      io.out.write(
        table(
          [
            { title: "RUN" },
            { title: "FUNCTION", shrinks: true },
            { title: "STATE", paint: (cell, row) => paintState(paint, list[row]!.state)(cell) },
            { title: "KEY", shrinks: true },
            { title: "OPENED", drops: true },
            { title: "AGE", align: "right" },
            { title: "TOOK", align: "right", drops: true },
            { title: "", shrinks: true, drops: true },
          ],
          list.map((run) => [
            run.id,
            printable(run.function),
            run.state,
            printable(run.key ?? "–"),
            iso(run.createdAt),
            relative(run.createdAt, now),
            isEnded(run.state) && run.endedAt !== null ? duration(run.endedAt - run.createdAt) : "–",
            printable(
              run.error !== null
                ? `${run.error.name}: ${run.error.message}`
                : run.dueAt !== null
                  ? `looked at ${relative(run.dueAt, now)}`
                  : run.rerunOf !== null
                    ? `reruns ${run.rerunOf}`
                    : "",
            ),
          ]),
          { columns: io.out.columns, bold: paint.bold },
        ),
      );
      if (list.length === limit) context.remark(`More: --before ${list.at(-1)!.id}`);
      return 0;
    });
  },
};
