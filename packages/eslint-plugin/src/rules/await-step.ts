import { workingTools } from "../core/durable.ts";
import type { Effect } from "../core/effects.ts";
import type { File } from "../core/file.ts";
import {
  ancestors,
  bare,
  enclosingFunction,
  isCall,
  isFunction,
  isWithin,
  memberName,
  type Node,
  nameOf,
} from "../core/syntax.ts";
import { defineRule, type Edit, type Found } from "../rule.ts";

export const awaitStep = defineRule({
  name: "await-step",
  says: "Steps, and what a step does, are waited for: what nobody waits for may never happen, and its failure is nobody's.",
  fixes: true,
  messages: {
    step: "Nobody waits for {{what}}: the function may end before it, and its failure is lost. Write await, return it, or hand it to Promise.all.",
    effect:
      "Nobody waits for {{what}}: the step is recorded as done before it happened, and its failure is lost. Write await.",
    each: "forEach waits for nobody: {{what}} is left behind. Use for (const … of …), or await Promise.all(….map(…)).",
    timer:
      "{{what}} is left to {{timer}}: the step is recorded as done before it happens, and a process that ends meanwhile takes it along. Wait for it in the step, or sleep between steps: step.sleep.",
    race: "Promise.{{race}} of several steps that work ends with the first, and the others may be left behind. Use Promise.all, or race one of them against step.sleep.",
  },
  *find(file): Iterable<Found> {
    for (const step of file.durable.steps) {
      const how = leftBehind(file, step.call);
      if (how !== null)
        yield {
          node: step.call,
          id: how === "each" ? "each" : "step",
          data: { what: step.name },
          fix: how === "dropped" ? awaited(step.call) : null,
        };
    }
    for (const effect of file.effects) {
      const places = file.durable.placesOf(effect.node);
      if (places.length === 0 || !isPromise(effect)) continue;
      const timer = timerAround(file, effect.node);
      if (timer !== null) {
        yield { node: effect.node, id: "timer", data: { what: effect.what, timer } };
        continue;
      }
      const how = leftBehind(file, effect.node);
      if (how !== null && places.some(({ kind }) => kind === "step"))
        yield {
          node: effect.node,
          id: how === "each" ? "each" : "effect",
          data: { what: effect.what },
          fix: how === "dropped" ? awaited(effect.node) : null,
        };
    }
    for (const call of file.calls) {
      const race = memberName(bare(call.callee));
      const [list] = call.arguments;
      if (
        (race !== "race" && race !== "any") ||
        nameOf(call.callee) !== `Promise.${race}` ||
        list?.type !== "ArrayExpression"
      )
        continue;
      const working = list.elements.filter(
        (each) => each !== null && workingTools.has(file.durable.stepOf(bare(each))?.tool ?? ""),
      );
      // group.parallel is Inngest's own word for a race that is meant.
      const isMeant = [...ancestors(call)].some((each) => isCall(each) && nameOf(each.callee) === "group.parallel");
      if (working.length > 1 && !isMeant) yield { node: call, id: "race", data: { race } };
    }
  },
});

/** Whether the call gives a promise, as far as is known: not a synchronous driver's, nor a stream, nor one with a callback. */
function isPromise({ node, kind, provider, request }: Effect): boolean {
  if (!isCall(node) || node.arguments.some((each) => isFunction(each))) return false;
  if (request !== null) return request.isFetch || /^(axios|got|ky)\b/.test(nameOf(node.callee));
  return kind === "event" || kind === "model" || provider !== null;
}

/** "dropped": a statement of its own; "chained": behind then or catch; "each": in a callback of forEach. */
function leftBehind(file: File, node: Node): "dropped" | "chained" | "each" | null {
  let at = node;
  let isChained = false;
  for (const parent of ancestors(node)) {
    switch (parent.type) {
      case "ExpressionStatement":
        return isChained ? "chained" : "dropped";
      case "UnaryExpression":
        return parent.operator === "void" ? "chained" : null;
      case "VariableDeclarator": {
        if (parent.id.type !== "Identifier") return null;
        const reads = file.names.variable(parent.id)?.references.filter((reference) => reference.isRead()) ?? [];
        return reads.length === 0 ? "chained" : null;
      }
      case "MemberExpression":
        if (parent.object !== at || !/^(then|catch|finally)$/.test(memberName(parent) ?? "")) return null;
        isChained = true;
        break;
      case "CallExpression":
        if (parent.callee !== at) return null;
        break;
      case "ChainExpression":
      case "TSNonNullExpression":
      case "TSAsExpression":
        break;
      case "AwaitExpression":
      case "ReturnStatement":
        return inForEach(node) ? "each" : null;
      case "ArrowFunctionExpression":
        return inForEach(node) ? "each" : null;
      default:
        return null;
    }
    at = parent;
  }
  return null;
}

function inForEach(node: Node): boolean {
  const fn = enclosingFunction(node);
  const callee = fn !== null && isCall(fn.parent) ? bare(fn.parent.callee) : null;
  return callee !== null && memberName(callee) === "forEach";
}

function awaited(node: Node): readonly Edit[] | null {
  return enclosingFunction(node)?.async === true ? [{ range: [node.range[0], node.range[0]], text: "await " }] : null;
}

const timers = /^(setTimeout|setInterval|setImmediate|queueMicrotask|process\.nextTick)$/;

/** The timer that calls it later, unless a promise around it is awaited. */
function timerAround(file: File, node: Node): string | null {
  let timer: string | null = null;
  for (const each of ancestors(node)) {
    if (file.durable.stepOf(each) !== null) break;
    if (!isCall(each)) continue;
    if (each.type === "NewExpression" && nameOf(each.callee) === "Promise") return null;
    const isLater = timers.test(nameOf(each.callee));
    if (isLater && each.arguments.some((given) => isFunction(given) && isWithin(node, given)))
      timer = nameOf(each.callee);
  }
  return timer;
}
