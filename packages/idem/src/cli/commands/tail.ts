// idem tail: what happens, as it happens. It reads beside the store's workers and asks again twice a second.
import { type Event, publicEventId } from "../../model/event.ts";
import { isEnded, openStates } from "../../model/run.ts";
import { type Command, type Context, countOption, type Reading, serverOptions } from "../command.ts";
import { NewEvents } from "../new-events.ts";
import { paintState } from "../paint.ts";
import { fit, printable } from "../printable.ts";
import { duration, iso } from "../times.ts";

const lookMs = 500;
// Open runs whose end is watched for; beyond it the newest are. Each is asked for at every look, which is nothing to a file.
const watchedMax = { file: 10_000, server: 200, elsewhere: 50 } as const;

export const tail: Command = {
  name: "tail",
  summary: "show events, decisions and ends of runs as they happen",
  usage: "[--last <10>] [--once]",
  words: { min: 0, max: 0 },
  options: {
    last: { value: "10", help: "begin with this many events that already happened, up to 1000" },
    once: { help: "show those and end, instead of going on until Ctrl-C" },
    ...serverOptions,
    json: { help: "one JSON document per line" },
  },
  examples: ["idem tail", "idem tail --json | jq 'select(.kind == \"decision\")'"],
  async run(context) {
    const last = countOption(context, "last", 10, 1_000);
    return context.read(async (reading) => {
      const recent = [...(await reading.reads.events(context.env, { limit: last }))].reverse();
      const watch = new Watch(context, reading);
      for (const event of recent) await watch.show(event);
      await watch.lookForEnds();
      if (!context.flags.has("once")) await follow(context, watch, reading, recent.at(-1)?.id ?? "");
      return 0;
    });
  },
};

async function follow(context: Context, watch: Watch, reading: Reading, from: string): Promise<void> {
  const { io } = context;
  let isOver = false;
  let wake = () => {};
  const ignore = io.onInterrupt(() => {
    isOver = true;
    wake();
  });
  try {
    for (const state of openStates) {
      const open = await reading.reads.runs(context.env, { limit: watchedMax[reading.place.kind], state });
      for (const run of open) watch.add(run.id);
    }
    const feed = new NewEvents(reading, from);
    while (!isOver) {
      const { events, isAll } = await feed.look();
      for (const event of events) await watch.show(event);
      await watch.lookForEnds();
      if (!isAll) continue;
      await new Promise<void>((resolve) => {
        const timer = io.platform.timer(lookMs, resolve);
        wake = () => {
          timer.cancel();
          resolve();
        };
      });
    }
  } finally {
    ignore();
  }
}

class Watch {
  private readonly open = new Set<string>();

  constructor(
    private readonly context: Context,
    private readonly reading: Reading,
  ) {}

  add(runId: string): void {
    this.open.add(runId);
    if (this.open.size > watchedMax[this.reading.place.kind]) this.open.delete(this.open.values().next().value!);
  }

  async show(event: Event): Promise<void> {
    const { context, reading } = this;
    const id = publicEventId(event);
    const { id: internalId, data, receivedAt } = event;
    this.print(
      {
        kind: "event",
        at: receivedAt,
        id: internalId,
        callerId: event.callerId,
        name: event.name,
        data: JSON.parse(data),
        duplicateOf: event.firstEventId,
      },
      `event     ${printable(event.name)} ${printable(id)} ${context.paint.dim(printable(data))}`,
    );
    for (const { fn, ...decision } of await reading.reads.decisionsOfEvent(context.env, internalId)) {
      const name = reading.nameOf(fn);
      const kind = paintState(context.paint, decision.kind)(decision.kind);
      const why = decision.reason === null ? "" : ` (${printable(decision.reason)})`;
      this.print(
        { ...decision, kind: "decision", at: decision.decidedAt, decision: decision.kind, function: name },
        `decision  ${printable(name)}: ${kind}${decision.runId === null ? "" : ` run ${decision.runId}`}${why}`,
      );
      if (decision.kind === "started" && decision.runId !== null) this.add(decision.runId);
    }
  }

  async lookForEnds(): Promise<void> {
    const { context, reading } = this;
    for (const id of this.open) {
      const run = await reading.reads.run(context.env, id);
      if (run !== null && !isEnded(run.state)) continue;
      this.open.delete(id);
      if (run === null) continue;
      const took = duration((run.endedAt ?? run.createdAt) - run.createdAt);
      this.print(
        {
          kind: "run",
          at: run.endedAt,
          id,
          function: reading.nameOf(run.fn),
          state: run.state,
          result: run.result === null ? null : JSON.parse(run.result),
        },
        `run       ${printable(reading.nameOf(run.fn))} ${id} ${paintState(context.paint, run.state)(run.state)} after ${took}`,
      );
    }
  }

  private print(
    document: { readonly kind: string; readonly at: number | null; readonly [name: string]: unknown },
    line: string,
  ): void {
    const { context } = this;
    const { columns } = context.io.out;
    if (context.isJson) context.io.out.write(`${JSON.stringify(document)}\n`);
    else {
      const whole = `${iso(document.at ?? context.now())}  ${line}`;
      // Colours take no room on the screen; a line with them is left as long as it is.
      context.say(columns === null || whole.includes("\x1b") ? whole : fit(whole, columns));
    }
  }
}
