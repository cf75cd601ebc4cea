import type { TSESTree } from "@typescript-eslint/types";
import { attemptIn } from "../core/attempts.ts";
import type { Step } from "../core/durable.ts";
import type { File } from "../core/file.ts";
import {
  ancestors,
  bare,
  exits,
  hasThrow,
  isCall,
  isFunction,
  isLoop,
  isWithin,
  memberName,
  type Node,
} from "../core/syntax.ts";
import { type Volatile, volatileIn } from "../core/trace.ts";
import { defineRule, type Found } from "../rule.ts";

export const stableStepId = defineRule({
  name: "stable-step-id",
  says: "A step's id, and whether and in which order steps are asked for, is the same each time the function is entered.",
  messages: {
    id: "The id of {{step}} is made of {{what}}, which is another one each time the function is entered: the step is never found again, and its work is done again. Name it by what it is about, such as event.data.…, or draw the value in a step of its own.",
    attempt:
      "The id of {{step}} contains {{what}}, which is another one with each try: what was recorded is never found again. Leave it out.",
    branch:
      'Whether {{step}} is asked for hangs on {{what}}, which may be otherwise the next time the function is entered. Decide in a step: const … = await step.run("decide", () => …).',
    order:
      "{{step}} is asked for once for each part of something whose order or content is made of {{what}}: the next time, its outcomes would belong to other parts. Make the list in a step.",
  },
  *find(file): Iterable<Found> {
    for (const step of file.durable.steps) {
      const found = ofId(file, step) ?? ofSurroundings(file, step);
      if (found !== null) yield found;
    }
  },
});

function ofId(file: File, step: Step): Found | null {
  if (step.id === null) return null;
  const data = { step: step.name };
  const moving = volatileIn(file, step.id);
  if (moving !== null) return { node: step.id, id: "id", data: { ...data, what: moving.what } };
  const attempt = attemptIn(file, step.id, new Set(["attempt", "entered"]));
  return attempt === null ? null : { node: step.id, id: "attempt", data: { ...data, what: attempt } };
}

function ofSurroundings(file: File, step: Step): Found | null {
  for (const each of ancestors(step.call)) {
    if (isFunction(each)) {
      // A callback of map or forEach is part of the same code; a handler is where it begins.
      const call = each.parent;
      const callee = isCall(call) ? bare(call.callee) : null;
      if (
        callee?.type !== "MemberExpression" ||
        !/^(map|forEach|flatMap|filter|reduce)$/.test(memberName(callee) ?? "")
      )
        return null;
      const moving = volatileIn(file, callee.object);
      if (moving !== null) return told(step, moving, "order");
    }
    const moving =
      each.type === "ForOfStatement" || each.type === "ForInStatement" ? volatileIn(file, each.right) : null;
    if (moving !== null) return told(step, moving, "order");
    const early = each.type === "BlockStatement" ? earlyExit(file, each, step.call) : null;
    if (early !== null) return told(step, early, "branch");
    const test = conditionAround(each, step.call);
    const deciding = test === null ? null : volatileIn(file, test);
    if (deciding !== null) return told(step, deciding, "branch");
  }
  return null;
}

/** `if (Date.now() > due) return;` before it, in the same block. */
function earlyExit(file: File, block: TSESTree.BlockStatement, step: Node): Volatile | null {
  for (const statement of block.body) {
    if (statement.range[0] > step.range[0]) return null;
    const leaves = statement.type === "IfStatement" && !isWithin(step, statement) && exits(statement.consequent);
    const moving = leaves && !hasThrow(statement.consequent) ? volatileIn(file, statement.test) : null;
    if (moving !== null) return moving;
  }
  return null;
}

function conditionAround(node: Node, step: Node): Node | null {
  if (node.type === "IfStatement" || node.type === "ConditionalExpression")
    return isWithin(step, node.test) ? null : node.test;
  if (node.type === "LogicalExpression") return isWithin(step, node.right) ? node.left : null;
  if (node.type === "SwitchStatement") return node.discriminant;
  if (isLoop(node) && (node.type === "WhileStatement" || node.type === "DoWhileStatement")) return node.test;
  return null;
}

const told = (step: Step, { what }: Volatile, id: string): Found => ({
  node: step.call,
  id,
  data: { step: step.name, what },
});
