import type { Step } from "../core/durable.ts";
import type { File } from "../core/file.ts";
import {
  ancestors,
  bare,
  isCall,
  isEither,
  isFunction,
  isLoop,
  memberName,
  type Node,
  textOf,
} from "../core/syntax.ts";
import { defineRule, type Found } from "../rule.ts";

export const uniqueStepId = defineRule({
  name: "unique-step-id",
  says: "Each step of a function has an id of its own; repeats are numbered in the order in which they are asked for.",
  messages: {
    loop: "{{step}} has the same id in every turn of the loop, so its outcomes are told apart by their number alone: one turn more or less, and they belong to others. Put what the turn is about into the id.",
    twice:
      "{{step}} has the id of another step of this function (line {{line}}): they are told apart by their order alone. Give each a name of its own.",
  },
  *find(file): Iterable<Found> {
    const first = new Map<Node | null, Map<string, Step>>();
    for (const step of file.durable.steps) {
      const id = textOf(step.id);
      if (id === null || step.id === null) continue;
      if (isRepeated(step.call)) yield { node: step.id, id: "loop", data: { step: step.name } };
      const fn = outermost(file, step);
      const known = first.get(fn) ?? new Map<string, Step>();
      first.set(fn, known);
      const other = known.get(id);
      if (other === undefined) known.set(id, step);
      else if (!isEither(other.call, step.call))
        yield { node: step.id, id: "twice", data: { step: step.name, line: String(other.call.loc.start.line) } };
    }
  },
});

function isRepeated(node: Node): boolean {
  let from = node;
  for (const each of ancestors(node)) {
    if (isLoop(each)) return true;
    if (isFunction(each)) {
      const callee = isCall(each.parent) ? bare(each.parent.callee) : null;
      if (callee === null || !/^(map|forEach|flatMap|reduce)$/.test(memberName(callee) ?? "")) return false;
      return each.parent !== from;
    }
    from = each;
  }
  return false;
}

function outermost(file: File, { call }: Step): Node | null {
  const handler = file.durable.functions
    .flatMap(({ handlers }) => handlers)
    .find((each) => call.range[0] >= each.range[0] && call.range[1] <= each.range[1]);
  let top: Node | null = null;
  for (const each of ancestors(call)) if (isFunction(each)) top = each;
  return handler ?? top;
}
