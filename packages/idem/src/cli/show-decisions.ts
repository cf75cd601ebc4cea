// Decisions on events, as a table.
import type { PublicDecision } from "../sdk/public-types.ts";
import type { Context } from "./command.ts";
import { paintState } from "./paint.ts";
import { printable } from "./printable.ts";
import { table } from "./table.ts";
import { when } from "./times.ts";

export function showDecisions(context: Context, decisions: readonly PublicDecision[]): void {
  const { io, paint } = context;
  const rows = decisions.map((decision) => [
    printable(decision.function),
    decision.kind,
    decision.runId ?? "–",
    printable(decision.key ?? "–"),
    decision.windowEndsAt === null ? "–" : when(decision.windowEndsAt, context.now()),
    printable(
      [decision.reason ?? "", ...decision.differs.map((path) => `differs at ${path}`)].filter(Boolean).join("; "),
    ),
  ]);
  const text = table(
    [
      { title: "FUNCTION", shrinks: true },
      { title: "DECISION", paint: (cell, row) => paintState(paint, decisions[row]!.kind)(cell) },
      { title: "RUN" },
      { title: "KEY", shrinks: true },
      { title: "WINDOW ENDS", shrinks: true, drops: true },
      { title: "REASON", shrinks: true },
    ],
    rows,
    { columns: io.out.columns, bold: paint.bold },
  );
  io.out.write(text);
}
