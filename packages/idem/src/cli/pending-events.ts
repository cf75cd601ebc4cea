// Events that wait to be decided, as a table or as JSON: for each the function it waits for, and why.
import { type Decision, isPending } from "../model/decision.ts";
import { type PublicEvent, publicEvent } from "../sdk/public-types.ts";
import type { Context, Reading } from "./command.ts";
import { paintState } from "./paint.ts";
import { printable } from "./printable.ts";
import { table } from "./table.ts";
import { relative } from "./times.ts";

export async function listPending(context: Context, reading: Reading, limit: number): Promise<number> {
  const { env, paint, io } = context;
  const { reads, nameOf } = reading;
  const { function: name, before } = context.options;
  const of = name === undefined ? {} : { fn: reading.slugOf(name) };
  const from = before === undefined ? {} : { before: { eventId: before, fn: "" } };
  const page = await reads.decisionPage(env, { isPending: true, limit, examinedMax: 10_000, ...of, ...from });
  const decisions = [...page.rows];
  const last = decisions.at(-1)?.eventId;
  if (page.next !== null && last !== undefined && name === undefined) {
    // --before names an event, so a page does not end between two functions of one.
    const rest = (await reads.decisionsOfEvent(env, last)).filter(isPending);
    decisions.push(...rest.filter((each) => !decisions.some(({ eventId, fn }) => eventId === last && fn === each.fn)));
  }
  const list: (Omit<Decision, "fn"> & { readonly function: string; readonly event: PublicEvent })[] = [];
  for (const { fn, ...decision } of decisions) {
    const event = await reads.event(env, decision.eventId);
    if (event !== null) list.push({ ...decision, function: nameOf(fn), event: publicEvent(event) });
  }
  if (context.isJson) {
    context.json(list);
    return 0;
  }
  if (list.length === 0) {
    context.remark("No events wait to be decided.");
    return 0;
  }
  const now = context.now();
  io.out.write(
    table(
      [
        { title: "EVENT" },
        { title: "NAME", shrinks: true },
        { title: "ID", shrinks: true, drops: true },
        { title: "FUNCTION", shrinks: true },
        { title: "DECISION", paint: (cell, row) => paintState(paint, list[row]!.kind)(cell) },
        { title: "AGE", align: "right" },
        { title: "REASON", shrinks: true },
      ],
      list.map(({ event, function: fn, kind, reason }) => [
        event.internalId,
        printable(event.name),
        event.id === event.internalId ? "–" : printable(event.id),
        printable(fn),
        kind,
        relative(event.receivedAt, now),
        printable(reason ?? "–"),
      ]),
      { columns: io.out.columns, bold: paint.bold },
    ),
  );
  if (page.next !== null && last !== undefined) context.remark(`More: --before ${last}`);
  return 0;
}
