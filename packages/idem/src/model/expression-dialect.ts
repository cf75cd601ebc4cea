// The meaning of an expression where plain CEL would stop: JSON numbers meet int literals, and a field may be missing.
// The library parses, checks types, runs macros and functions; here every parsed node is given its meaning, or refused.
//
// Missing: every operator returns undefined when what it needs is missing, and looks for undefined in its operands.
//   field, index, call, + - * / %   missing or null operand → missing, never a shared partial key
//   == != < <= > >= in              missing operand → false (!= true); a missing field equals only the word null
//   && || ! ?:                      missing counts as false; other values count as JavaScript's truth has them

import { Refusal } from "./expression-failure.ts";
import { defineCall } from "./expression-functions.ts";
import { defineMacro, isMacro, type MacroArgs } from "./expression-macros.ts";
import { Meter } from "./expression-meter.ts";
import { evaluateAll, throwWhenMissing, undefinedWhenMissing } from "./expression-missing.ts";
import type { Node } from "./expression-node.ts";
import {
  defineArithmetic,
  defineChoice,
  defineEquality,
  defineField,
  defineIndex,
  defineLogic,
  defineMembership,
  defineNegation,
  defineNot,
  defineRelation,
} from "./expression-operators.ts";

/** Gives every node of a parsed expression its meaning; `variables` are what it may name. Run it before the library's type check. */
export function applyDialect(root: Node, variables: readonly string[]): Installed {
  const meter = new Meter();
  const nodes = new Dialect(meter, variables).install(root, new Set(variables));
  return { meter, nodes };
}

export interface Installed {
  readonly meter: Meter;
  readonly nodes: number;
}

class Dialect {
  readonly #meter: Meter;

  readonly #variables: string;

  constructor(meter: Meter, variables: readonly string[]) {
    this.#meter = meter;
    this.#variables = variables.join(" and ");
  }

  /** Returns how many nodes there are, itself included: the cost of one pass over them. */
  install(node: Node, names: ReadonlySet<string>): number {
    const { op, args } = node;
    const meter = this.#meter;
    switch (op) {
      case "value":
        if (typeof args === "object" && args !== null)
          throw new Refusal("bytes and unsigned numbers are not supported");
        if (typeof args === "bigint" && BigInt.asIntN(64, args) !== args)
          throw new Refusal(`${args} is not a 64-bit int`);
        node.evaluate = () => args;
        return 1;
      case "id":
        if (!names.has(args)) throw new Refusal(`it names "${args}"; only ${this.#variables} are known`);
        node.evaluate = (_evaluator, _node, context) => context.getValue(args);
        return 1;
      case ".":
        return this.#installAll(defineField(node, meter), names);
      case "[]":
        return this.#installAll(defineIndex(node, meter), names);
      case "==":
      case "!=":
        return this.#installAll(defineEquality(node, meter), names);
      case "<":
      case "<=":
      case ">":
      case ">=":
        return this.#installAll(defineRelation(node, meter), names);
      case "in":
        return this.#installAll(defineMembership(node, meter), names);
      case "+":
      case "-":
      case "*":
      case "/":
      case "%":
        return this.#installAll(defineArithmetic(node, meter), names);
      case "-_":
        return this.#installAll(defineNegation(node), names);
      case "&&":
      case "||":
        return this.#installAll(defineLogic(node, meter), names);
      case "!_":
        return this.#installAll(defineNot(node), names);
      case "?:":
        return this.#installAll(defineChoice(node), names);
      case "list":
        return this.#list(node, names);
      case "map":
        return this.#map(node, names);
      case "call":
      case "rcall":
        if (isMacro(node)) return this.#macro(node, names);
        return this.#installAll(defineCall(node, meter), names);
      default:
        throw new Refusal(`"${op}" is not supported`);
    }
  }

  #installAll(nodes: readonly Node[], names: ReadonlySet<string>): number {
    return nodes.reduce((count, node) => count + this.install(node, names), 1);
  }

  #list(node: Node, names: ReadonlySet<string>): number {
    const items = node.args as Node[];
    node.evaluate = (evaluator, _node, context) => evaluateAll(items, evaluator, context);
    return this.#installAll(items, names);
  }

  #map(node: Node, names: ReadonlySet<string>): number {
    const parts = (node.args as [Node, Node][]).flat();
    const count = this.#installAll(parts, names);
    for (const part of parts) throwWhenMissing(part);
    const { evaluate } = node.meta;
    node.evaluate = (evaluator, _node, context) => undefinedWhenMissing(() => evaluate(evaluator, node, context));
    // Each is an object that is made and collected again.
    return count * 2;
  }

  #macro(node: Node, names: ReadonlySet<string>): number {
    const [, target, [variable, ...bodies]] = node.args as MacroArgs;
    const count = 1 + this.install(target, names);
    const innerNames = new Set(names).add(variable.args);
    const bodyCosts = bodies.map((body) => this.install(body, innerNames));
    defineMacro(node, bodyCosts, this.#meter);
    return bodyCosts.reduce((sum, cost) => sum + cost, count);
  }
}
