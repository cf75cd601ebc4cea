import type { TSESTree } from "@typescript-eslint/types";
import type { Effect } from "../core/effects.ts";
import type { File } from "../core/file.ts";
import {
  ancestors,
  bare,
  descend,
  descendHere,
  enclosingFunction,
  exits,
  hasThrow,
  isCall,
  isFunction,
  isLoop,
  memberName,
  type Node,
  nameOf,
} from "../core/syntax.ts";
import { trace } from "../core/trace.ts";
import { defineRule, type Found, type Suggestion } from "../rule.ts";

export const noSwallowedCrash = defineRule({
  name: "no-swallowed-crash",
  says: "A step that failed is heard of: a catch throws again or does something else instead, and a refusal is looked at.",
  suggests: true,
  messages: {
    step: "This catch swallows the failure of {{what}}: the run completes, and a part of it is missing for good. Throw again, or do in a step what is to be done instead.",
    effect:
      "This catch swallows the failure of {{what}}: the step is recorded as done, and is never tried again. Throw again, so that it is.",
    settled:
      "Promise.allSettled swallows the failures of its steps, and nobody looks at its answer. Use Promise.all, or look at each status.",
    unread:
      "fetch does not throw when {{what}} is refused, and nobody looks at the answer: a 500 counts as done. if (!answer.ok) throw new Error(…).",
    refused:
      "{{status}} of {{what}} is taken for success, and nothing was done. Throw, so that the step is tried again{{why}}.",
    rethrow: "Throw it again",
  },
  *find(file): Iterable<Found> {
    for (const step of file.durable.steps) {
      const swallower = swallowing(step.call);
      if (swallower !== null)
        yield { node: swallower, id: "step", data: { what: step.name }, suggest: rethrown(swallower) };
    }
    for (const effect of file.effects) {
      if (effect.kind === "model" || !file.durable.placesOf(effect.node).some(({ kind }) => kind === "step")) continue;
      const swallower = swallowing(effect.node);
      if (swallower !== null && !isRetried(swallower))
        yield { node: swallower, id: "effect", data: { what: effect.what }, suggest: rethrown(swallower) };
      if (effect.request?.isFetch === true) yield* ofAnswer(file, effect);
    }
    for (const call of file.calls) {
      if (
        nameOf(call.callee) !== "Promise.allSettled" ||
        call.parent.type !== "AwaitExpression" ||
        call.parent.parent.type !== "ExpressionStatement"
      )
        continue;
      for (const each of descend(call)) {
        if (file.durable.stepOf(each) === null) continue;
        yield { node: call, id: "settled" };
        break;
      }
    }
  },
});

/** The catch, or the callback of `.catch`, that gets this call's failure and only logs it. */
function swallowing(node: Node): TSESTree.CatchClause | Node | null {
  let at = node;
  for (const parent of ancestors(node)) {
    if (
      parent.type === "MemberExpression" &&
      parent.object === at &&
      memberName(parent) === "catch" &&
      isCall(parent.parent)
    ) {
      const [handler] = parent.parent.arguments;
      if (handler === undefined) return null;
      if (
        isLog(handler as Node) ||
        (isFunction(handler) &&
          (handler.body.type === "BlockStatement" ? isSilent(handler.body) : isTold(handler.body)))
      )
        return isAnswered(handler as Node) && !isDropped(parent.parent) ? null : parent.parent;
      return null;
    }
    if (parent.type === "TryStatement" && parent.block === at && parent.handler !== null)
      return isSilent(parent.handler.body) ? parent.handler : null;
    if (isFunction(parent) && !isAwaitedCallback(parent)) return null;
    at = parent;
  }
  return null;
}

/** `const found = await step.run(…).catch(() => null)`: a value that stands for the failure, and is looked at. */
const isAnswered = (handler: Node): boolean => isFunction(handler) && bare(handler.body).type === "Literal";

function isDropped(call: Node): boolean {
  const at = call.parent?.type === "AwaitExpression" ? call.parent.parent : call.parent;
  return at?.type === "ExpressionStatement";
}

/** `await Promise.all(items.map(async () => …))`: what it throws comes out here. */
const isAwaitedCallback = (fn: Node): boolean => isCall(fn.parent) && memberName(bare(fn.parent.callee)) === "map";

const isSilent = (block: TSESTree.BlockStatement): boolean =>
  block.body.every((statement) => statement.type === "ExpressionStatement" && isTold(statement.expression));

/** Nothing, or a word to a log. */
function isTold(node: Node): boolean {
  const plain = bare(node.type === "AwaitExpression" ? node.argument : node);
  if (plain.type === "Literal" || (plain.type === "Identifier" && plain.name === "undefined")) return true;
  if (plain.type === "UnaryExpression" && plain.operator === "void") return true;
  return isCall(plain) && isLog(plain.callee);
}

const isLog = (node: Node): boolean =>
  /^(console|log|logger|log\w*|this\.log(ger)?|ctx\.logger|Sentry|noop)(\.|$)|\.(captureException|warn|error|debug)$/.test(
    nameOf(node),
  );

/** A loop that tries again. */
function isRetried(node: Node): boolean {
  for (const each of ancestors(node)) {
    if (isFunction(each)) return false;
    if (isLoop(each)) return true;
  }
  return false;
}

function rethrown(node: Node): Suggestion | null {
  if (node.type !== "CatchClause" || node.param?.type !== "Identifier") return null;
  const at = node.body.range[1] - 1;
  return { id: "rethrow", edits: [{ range: [at, at], text: `throw ${node.param.name};\n` }] };
}

function* ofAnswer(file: File, effect: Effect): Iterable<Found> {
  const { node, what } = effect;
  if (node.parent?.type === "AwaitExpression" && node.parent.parent.type === "ExpressionStatement") {
    yield { node, id: "unread", data: { what } };
    return;
  }
  const fn = enclosingFunction(node);
  for (const each of fn === null ? [] : descendHere(fn.body)) {
    if (each.type !== "IfStatement" || !exits(each.consequent) || hasThrow(each.consequent)) continue;
    const status = statusOf(each.test);
    if (status === null || (status === 409 && file.keyOf(effect).state !== "keyed")) continue;
    const isItsOwn = trace(file, each.test, (part) => (part === node ? true : null)) === true;
    const why =
      status === 409
        ? "; with a key, 409 says that another try is still under way"
        : status === 429
          ? " later, such as by RetryAfterError"
          : "";
    if (isItsOwn) yield { node: each.test, id: "refused", data: { status: String(status), what, why } };
  }
}

/** The status that a test asks for, where it is a refusal. */
function statusOf(test: Node): number | null {
  for (const each of descend(test)) {
    if (each.type !== "BinaryExpression" || (each.operator !== "===" && each.operator !== "==")) continue;
    if (!/^status(Code)?$/.test(memberName(bare(each.left)) ?? "") || each.right.type !== "Literal") continue;
    const status = Number(each.right.value);
    if (status === 409 || status === 429 || status >= 500) return status;
  }
  return null;
}
