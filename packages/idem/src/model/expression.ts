// CEL expressions over an event: keys, filters, the `if` of a wait. Compiled once per text, evaluated without throwing,
// in time that the data cannot stretch. The meaning of operators is in expression-dialect.ts.

// A namespace, so that the library is set up when the first expression asks for it: scripts/bundle.mjs.
import * as cel from "@marcbachmann/cel-js";
import { errors } from "./errors.ts";
import { applyDialect, type Installed } from "./expression-dialect.ts";
import { failureReason } from "./expression-failure.ts";
import type { Meter } from "./expression-meter.ts";
import type { Node } from "./expression-node.ts";
import { mixedOperators } from "./expression-operators.ts";
import { shorten } from "./expression-outcome.ts";
import { parsePath } from "./expression-path.ts";

const textLengthMax = 4_096;
const nodesMax = 500;
const depthMax = 32;

class Dialect {
  readonly variables: readonly string[];
  #environment: cel.Environment | null = null;

  constructor(...variables: readonly string[]) {
    this.variables = variables;
  }

  parse(text: string): ReturnType<cel.Environment["parse"]> {
    this.#environment ??= this.#environmentOf();
    return this.#environment.parse(text);
  }

  #environmentOf(): cel.Environment {
    const environment = new cel.Environment({
      homogeneousAggregateLiterals: false,
      limits: {
        maxAstNodes: nodesMax,
        maxDepth: depthMax,
        maxListElements: 200,
        maxMapEntries: 100,
        maxCallArguments: 4,
      },
    });
    for (const variable of this.variables) environment.registerVariable(variable, "dyn");
    for (const operator of mixedOperators) environment.registerOperator(operator, unreachable);
    return environment;
  }
}

const ofEvents = new Dialect("event", "async");
const ofRuns = new Dialect("event", "output");

/** The type check must know these pairs of types; the dialect computes them before the library would. */
function unreachable(): never {
  throw new Error("the dialect computes mixed operands itself");
}

export interface ExpressionScope {
  readonly event: unknown;
  readonly async?: unknown;
  /** Of a run that ended; for people who look for runs. */
  readonly output?: unknown;
}

export type Evaluation =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly why: "missing" | "failed"; readonly message: string };

type RunNode = (scope: ExpressionScope, node: Node) => unknown;

export class Expression {
  readonly text: string;
  /** A list or map written out, such as `[event.data.a, event.data.b]`. */
  readonly isComposite: boolean;
  readonly root: Node;
  readonly #run: RunNode;
  readonly #meter: Meter;
  readonly #nodes: number;

  /** Made by compileExpression. */
  constructor(text: string, root: Node, run: RunNode, { meter, nodes }: Installed) {
    this.text = text;
    this.isComposite = root.op === "list" || root.op === "map";
    this.root = root;
    this.#run = run;
    this.#meter = meter;
    this.#nodes = nodes;
  }

  /** `part`: a node of this expression that stands in no macro; the whole by default. */
  evaluate(scope: ExpressionScope, part = this.root): Evaluation {
    const meter = this.#meter;
    meter.reset();
    try {
      const value = this.#run(scope, part);
      // all() and exists() stop without an error when the meter is spent; what they answered then means nothing.
      meter.spend(0);
      if (value === undefined) return { ok: false, why: "missing", message: this.#absence() };
      // CEL's ints are BigInts; those that a number can hold are easier on callers as numbers.
      if (typeof value === "bigint" && Number.isSafeInteger(Number(value))) return { ok: true, value: Number(value) };
      return { ok: true, value };
    } catch (error) {
      return { ok: false, why: "failed", message: failureReason(error) };
    } finally {
      meter.settle(this.#nodes);
    }
  }

  #absence(): string {
    const { absent, absentBecause } = this.#meter;
    if (absent === undefined) return "a value it needs is missing";
    return `\`${shorten(absent.input.slice(absent.start, absent.end))}\` is ${absentBecause}`;
  }
}

/** Over `event` and `output`, to find runs by. Throws EXPRESSION_INVALID, whose reason begins with the place of the mistake. */
export function compileRunFilter(text: string): Expression {
  return compile(text, ofRuns, (why, cause) => {
    const start = (cause as { node?: { start?: unknown } } | undefined)?.node?.start;
    const place = typeof start === "number" ? `character ${start + 1}: ` : "";
    return errors.EXPRESSION_INVALID({ expression: shorten(String(text)), why: `${place}${why}` }, { cause });
  });
}

/** Throws EXPRESSION_INVALID; `what` names the option in it. */
export function compileExpression(text: string, what?: string): Expression {
  const refuse = (why: string, cause?: unknown) =>
    errors.EXPRESSION_INVALID(
      { expression: shorten(String(text)), why: what === undefined ? why : `${why} (in ${what})` },
      cause === undefined ? {} : { cause },
    );
  return compile(text, ofEvents, refuse);
}

/** Whatever an expression may need of its libraries is loaded: for worlds, in which nothing of ours may be read from the disk. */
export function prepareExpressions(): void {
  compileExpression("event.name.matches('a')");
}

function compile(text: string, over: Dialect, refuse: (why: string, cause?: unknown) => Error): Expression {
  if (typeof text !== "string" || text.trim() === "") throw refuse("it is empty");
  if (text.length > textLengthMax) throw refuse(`it is longer than ${textLengthMax} characters`);
  const path = parsePath(text, over.variables);
  if (path !== null) return new Expression(text, path, runPath, applyDialect(path, over.variables));
  try {
    const parsed = over.parse(text);
    const root = parsed.ast as unknown as Node;
    const installed = applyDialect(root, over.variables);
    const { valid, error } = parsed.check();
    if (!valid) throw error;
    return new Expression(text, root, partsOf(parsed, root), installed);
  } catch (error) {
    throw refuse(failureReason(error), error);
  }
}

/** Has no value, for the reason it was refused. */
function undecided(text: string, refusal: unknown): Expression {
  const root = ofEvents.parse("false").ast as unknown as Node;
  const fail = () => {
    throw refusal;
  };
  return new Expression(text, root, fail, applyDialect(root, ofEvents.variables));
}

const runPath: RunNode = (scope, node) =>
  node.evaluate(null, node, { getValue: (name) => scope[name as keyof ExpressionScope] });

/** The library evaluates a root only, and makes the context a node needs on the way: the root passes it on. */
function partsOf(run: (scope: ExpressionScope) => unknown, root: Node): RunNode {
  const { evaluate } = root;
  let asked = root;
  root.evaluate = (evaluator, _node, context) =>
    asked === root ? evaluate(evaluator, root, context) : asked.evaluate(evaluator, asked, context);
  return (scope, node) => {
    asked = node;
    return run(scope);
  };
}

/** An expression of a function's configuration that could not be decided for an event. */
export interface FailedExpression {
  readonly fn: string | null;
  readonly runId: string | null;
  /** Where it is written: "trigger.if", "concurrency.key", … */
  readonly option: string;
  readonly expression: string;
  readonly reason: string;
}

// A compiled expression takes 5 KB for 70 characters, so 10,000 of them stay near 70 MB whatever their lengths.
const textLengthPerExpression = 100;

const refusedMax = 100;

/** Compiled expressions by text; the one unused longest makes room. Its owner owns the memory. */
export class Expressions {
  readonly #byText = new Map<string, Expression>();
  readonly #refused = new Map<string, Expression>();
  readonly #max: number;
  #textLength = 0;

  /** `onFailed`: called with a function's expression that had no value. */
  constructor(
    max = 10_000,
    readonly onFailed: (failed: FailedExpression) => void = () => {},
  ) {
    this.#max = Math.max(1, max);
  }

  /** Of a configuration that was stored, perhaps under wider bounds: what is refused today has no value, with the reason, and holds up nobody's event. */
  stored(text: string): Expression {
    const known = this.#refused.get(text);
    if (known !== undefined) return known;
    try {
      return this.get(text);
    } catch (error) {
      if (this.#refused.size >= refusedMax) this.#refused.clear();
      const refused = undecided(text, error);
      this.#refused.set(text, refused);
      return refused;
    }
  }

  /** Throws EXPRESSION_INVALID. */
  get(text: string): Expression {
    const known = this.#byText.get(text);
    if (known !== undefined) {
      // A Map keeps the order of insertion: what was used last stands last.
      this.#byText.delete(text);
      this.#byText.set(text, known);
      return known;
    }
    const expression = compileExpression(text);
    this.#byText.set(text, expression);
    this.#textLength += text.length;
    while (
      this.#byText.size > 1 &&
      (this.#byText.size > this.#max || this.#textLength > this.#max * textLengthPerExpression)
    ) {
      const oldest = this.#byText.keys().next().value!;
      this.#byText.delete(oldest);
      this.#textLength -= oldest.length;
    }
    return expression;
  }

  get size(): number {
    return this.#byText.size;
  }
}
