import { isGuarded, isMark } from "../core/database.ts";
import { readLook } from "../core/effects.ts";
import type { File } from "../core/file.ts";
import { enclosingFunction, type Node } from "../core/syntax.ts";
import { defineRule, type Found } from "../rule.ts";

export const insertOnConflict = defineRule({
  name: "insert-on-conflict",
  says: "An insert says what happens when the row is there already.",
  messages: {
    blind:
      "{{what}} inserts blindly: a second try, or a second run, leaves two rows or fails on the first. Say what happens when it is there: {{way}}; or write in one commit with the step: {{out}}.",
  },
  *find(file): Iterable<Found> {
    for (const { node, what, statement } of file.effects) {
      if (statement?.act !== "insert") continue;
      const [place] = file.durable.placesOf(node);
      if (place === undefined || (place.kind === "step" && place.step.tool === "transaction")) continue;
      // One that is looked for first is a matter of no-check-then-act.
      if (isMark(file.names, statement) || isGuarded(file.names, node) || isLookedFor(file, node, statement.table))
        continue;
      const flavor = file.durable.functionAround(node)?.flavor;
      const out =
        flavor === "inngest" ? "a transaction that also inserts a row with the event's id" : "step.transaction";
      yield {
        node,
        id: "blind",
        data: {
          what,
          out,
          way: statement.sql === null ? "upsert, or the builder's onConflict" : "on conflict (…) do nothing",
        },
      };
    }
  },
});

function isLookedFor(file: File, node: Node, table: string | null): boolean {
  const fn = enclosingFunction(node);
  return file.calls.some(
    (call) =>
      call.range[1] < node.range[0] &&
      enclosingFunction(call) === fn &&
      table !== null &&
      readLook(file.names, call)?.resource === table,
  );
}
