import { chainOf, isGuarded } from "../core/database.ts";
import { type Effect, readLook } from "../core/effects.ts";
import type { File } from "../core/file.ts";
import { argumentsOf, bare, descend, isCall, type Node, textOf } from "../core/syntax.ts";
import { trace } from "../core/trace.ts";
import { defineRule, type Found } from "../rule.ts";

export const noIncrement = defineRule({
  name: "no-increment",
  says: "A step sets what is to be, and does not add to what is: added twice, it is there twice.",
  messages: {
    increment:
      "{{what}} adds to what is there, and a retry adds again. Set the value itself, insert one row for each booking and sum them up, or add in one commit with the step: {{out}}.",
    append: "{{what}} appends, and a retry appends again. Write a file, or a row, of its own for each thing.",
    readWrite:
      "{{what}} writes back what was read, and something added to it: a retry reads the sum and adds again. Write a thing of its own for each addition, under a name made of event.data.…, or pass a key.",
  },
  *find(file): Iterable<Found> {
    for (const effect of file.effects) {
      const [place] = file.durable.placesOf(effect.node);
      if (place === undefined || (place.kind === "step" && place.step.tool === "transaction")) continue;
      const flavor = file.durable.functionAround(effect.node)?.flavor;
      const out =
        flavor === "inngest" ? "a transaction that also inserts a row with the event's id" : "step.transaction";
      if (effect.statement?.act === "increment") {
        if (!isGuarded(file.names, effect.node, "mark"))
          yield { node: effect.node, id: "increment", data: { what: effect.what, out } };
      } else if (effect.kind === "file" && effect.makes)
        yield { node: effect.node, id: "append", data: { what: effect.what } };
      else if (
        !effect.makes &&
        file.keyOf(effect).state === "unkeyed" &&
        isReadBack(file, effect) &&
        !isGuarded(file.names, effect.node, "mark")
      )
        yield { node: effect.node, id: "readWrite", data: { what: effect.what } };
    }
  },
});

/** A sum, or a list with one more, of something that was read in the same code, written without a version. */
function isReadBack(file: File, { node }: Effect): boolean {
  if (!isCall(node) || /if-match|etag|version/i.test(file.text(node))) return false;
  // `prepare("update …").run(balance - 10)`: further along the chain.
  const links = chainOf(node).flatMap(({ call }) => (call === null ? [] : argumentsOf(call)));
  for (const given of [...argumentsOf(node), ...links]) {
    for (const part of descend(file.names.valueOf(given))) {
      if (addends(part).some((each) => isRead(file, each))) return true;
    }
  }
  return false;
}

function addends(node: Node): Node[] {
  if (node.type === "BinaryExpression" && (node.operator === "+" || node.operator === "-")) {
    const sides = [node.left as Node, node.right];
    return sides.some((side) => textOf(side) !== null || bare(side).type === "TemplateLiteral") ? [] : sides;
  }
  if (node.type !== "ArrayExpression" || node.elements.length < 2) return [];
  return node.elements.flatMap((each) => (each?.type === "SpreadElement" ? [each.argument] : []));
}

function isRead(file: File, node: Node): boolean {
  return (
    trace(file, node, (part) => {
      if (readLook(file.names, part) !== null) return true;
      if (!isCall(part)) return null;
      const { module, root, path } = file.names.sourceOf(part.callee);
      return module !== null && /^(node:)?fs/.test(module) && /^readFile/.test(path.at(-1) ?? root) ? true : null;
    }) === true
  );
}
