import { areInOneOfSqlite, isGuarded } from "../core/database.ts";
import { type Effect, type Look, readLook } from "../core/effects.ts";
import type { File } from "../core/file.ts";
import { descend, enclosingFunction, exits, type Fn, isWithin, type Node } from "../core/syntax.ts";
import { trace } from "../core/trace.ts";
import { defineRule, type Found } from "../rule.ts";

export const noCheckThenAct = defineRule({
  name: "no-check-then-act",
  says: "Whether a thing is there is decided by what makes it, and not by a look before: two look at once, or the first dies before it could be seen.",
  messages: {
    race: "{{what}} is done because {{look}} found nothing. Two that look at once both do it, and one that dies behind it is not seen by the next. Let the write decide: {{out}}.",
  },
  *find(file): Iterable<Found> {
    for (const call of file.calls) {
      const look = readLook(file.names, call);
      const [place] = look === null ? [] : file.durable.placesOf(call);
      const fn = enclosingFunction(call);
      if (
        look === null ||
        fn === null ||
        place === undefined ||
        (place.kind === "step" && place.step.tool === "transaction")
      )
        continue;
      const acted = actedUpon(file, look, fn);
      if (acted === null) continue;
      const out =
        acted.kind === "database"
          ? "an insert on conflict do nothing, an upsert, or a transaction that locks the row"
          : "pass a key that the other side knows again, or claim a row that is unique before acting";
      yield {
        node: acted.node,
        id: "race",
        data: { what: acted.what, look: file.text(call).split(/[({`]/)[0]!.trim(), out },
      };
    }
  },
});

/** The first thing that is made only where the look found nothing, if one of those is of the collection that was looked at. */
function actedUpon(file: File, look: Look, fn: Fn): Effect | null {
  const tests = conditionsOn(file, look, fn);
  const after = file.effects.filter(
    ({ node }) =>
      isWithin(node, fn) && node.range[0] > look.node.range[1] && tests.some((test) => isDecidedBy(test, node)),
  );
  if (!after.some(({ resource }) => resource === look.resource)) return null;
  const made = after.find(
    (effect) => effect.makes && effect.statement?.act !== "increment" && file.keyOf(effect).state === "unkeyed",
  );
  if (made === undefined || areInOneOfSqlite(file.names, look.node, made.node)) return null;
  return isGuarded(file.names, made.node) ? null : made;
}

interface Condition {
  readonly node: Node;
  readonly whole: Node;
}

function conditionsOn(file: File, look: Look, fn: Fn): Condition[] {
  const found: Condition[] = [];
  for (const node of descend(fn.body)) {
    const test =
      node.type === "IfStatement" || node.type === "ConditionalExpression"
        ? node.test
        : node.type === "LogicalExpression"
          ? node.left
          : null;
    if (test === null || test.range[0] < look.node.range[0]) continue;
    if (trace(file, test, (part) => (part === look.node ? true : null)) === true)
      found.push({ node: test, whole: node });
  }
  return found;
}

function isDecidedBy({ node: test, whole }: Condition, act: Node): boolean {
  if (isWithin(act, whole)) return !isWithin(act, test);
  return (
    whole.type === "IfStatement" && (exits(whole.consequent) || exits(whole.alternate)) && act.range[0] > whole.range[1]
  );
}
