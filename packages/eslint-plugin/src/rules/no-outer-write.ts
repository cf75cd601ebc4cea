import type { TSESTree } from "@typescript-eslint/types";
import type { Scope } from "eslint";
import type { File } from "../core/file.ts";
import { bare, descend, isCall, isFunction, isWithin, memberName, type Node } from "../core/syntax.ts";
import { defineRule, type Found } from "../rule.ts";

export const noOuterWrite = defineRule({
  name: "no-outer-write",
  says: "A step hands its result on by returning it; what it writes outside of itself is gone when the function is entered again.",
  messages: {
    step: "{{step}} writes to {{name}}, which is declared outside of it. When the function is entered again the step is not run, and {{name}} is as it was. Return the value: const {{name}} = await step.run(…).",
    module:
      "{{where}} writes to {{name}}, a variable of the module: another process, and this one after a restart, does not know it, and all runs share it. Keep it in a step's value, in the event or in a database.",
  },
  *find(file): Iterable<Found> {
    for (const step of file.durable.steps) {
      if (step.body === null) continue;
      for (const { node, variable, name } of writesIn(file, step.body)) {
        if (isOfModule(variable)) yield { node, id: "module", data: { where: step.name, name } };
        else if (isReadOutside(variable, step.body)) yield { node, id: "step", data: { step: step.name, name } };
      }
    }
    for (const fn of file.durable.functions) {
      for (const handler of fn.handlers) {
        for (const { node, variable, name } of writesIn(file, handler)) {
          if (isOfModule(variable) && file.durable.stepAround(node) === null)
            yield { node, id: "module", data: { where: `The function "${fn.id}"`, name } };
        }
      }
    }
  },
});

const isOfModule = (variable: Scope.Variable): boolean => /^(module|global)$/.test(variable.scope.type);

/** A variable nobody looks at outside of the step is part of it, wherever it was declared. */
const isReadOutside = (variable: Scope.Variable, body: Node): boolean =>
  variable.references.some(
    (reference) => reference.isRead() && !isWithin(reference.identifier as unknown as Node, body),
  );

interface Write {
  readonly node: Node;
  readonly variable: Scope.Variable;
  readonly name: string;
}

function* writesIn(file: File, body: Node): Iterable<Write> {
  for (const node of descend(body)) {
    const target = targetOf(file, node);
    if (target === null) continue;
    const variable = file.names.variable(target as never);
    const def = variable?.defs[0];
    if (!variable || !def || isWithin(def.node as unknown as Node, body)) continue;
    const name = (target as { name: string }).name;
    if (def.type === "Variable" && (isAssigned(node, target) || isCollection(def.node as unknown as Node)))
      yield { node, variable, name };
    // Whether an import is a collection is not known here; one that is asked `has` before, is.
    if (def.type === "ImportBinding" && isCall(node) && isAsked(file, body, name)) yield { node, variable, name };
  }
}

/** The name at the root of what is written to. */
function targetOf(file: File, node: Node): Node | null {
  if (node.type === "AssignmentExpression") {
    const isLazy =
      (node.operator === "??=" || node.operator === "||=" || isFirstOnly(node)) && !hasEffect(file, node.right);
    return isLazy || (node.left.type !== "Identifier" && node.left.type !== "MemberExpression")
      ? null
      : rootOf(node.left);
  }
  if (node.type === "UpdateExpression") return rootOf(node.argument);
  if (node.type === "UnaryExpression" && node.operator === "delete") return rootOf(node.argument);
  if (!isCall(node)) return null;
  const callee = bare(node.callee);
  if (
    callee.type !== "MemberExpression" ||
    !/^(push|pop|shift|unshift|splice|add|set|delete|clear)$/.test(memberName(callee) ?? "")
  )
    return null;
  return rootOf(callee.object);
}

/** `if (!client) client = await connect()`: made once, and the same for every run. */
function isFirstOnly({ left, parent }: TSESTree.AssignmentExpression): boolean {
  const around = parent.parent?.type === "BlockStatement" ? parent.parent.parent : parent.parent;
  if (around?.type !== "IfStatement" || left.type !== "Identifier") return false;
  const { test } = around;
  if (test.type === "UnaryExpression") return test.operator === "!" && isNamed(test.argument, left.name);
  return test.type === "BinaryExpression" && /^===?$/.test(test.operator) && isNamed(test.left, left.name);
}

const isNamed = (node: Node, name: string): boolean => node.type === "Identifier" && node.name === name;

function rootOf(node: Node): Node | null {
  let at = bare(node);
  while (at.type === "MemberExpression") at = bare(at.object);
  return at.type === "Identifier" ? at : null;
}

const hasEffect = (file: File, node: Node): boolean => file.effects.some((effect) => isWithin(effect.node, node));
const isAssigned = (node: Node, target: Node): boolean =>
  (node.type === "AssignmentExpression" && node.left === target) ||
  (node.type === "UpdateExpression" && node.argument === target);

/** Made here and in memory: a list, an object, a Set, a Map. */
function isCollection(declarator: Node): boolean {
  const init = declarator.type === "VariableDeclarator" && declarator.init !== null ? bare(declarator.init) : null;
  if (init?.type === "ArrayExpression" || init?.type === "ObjectExpression") return true;
  return (
    init?.type === "NewExpression" &&
    init.callee.type === "Identifier" &&
    /^(Set|Map|WeakSet|WeakMap|Array)$/.test(init.callee.name)
  );
}

function isAsked(file: File, body: Node, name: string): boolean {
  return file.calls.some((call) => {
    const callee = bare(call.callee);
    return (
      isWithin(call, body) &&
      callee.type === "MemberExpression" &&
      memberName(callee) === "has" &&
      callee.object.type === "Identifier" &&
      callee.object.name === name &&
      !isFunction(call.arguments[0])
    );
  });
}
