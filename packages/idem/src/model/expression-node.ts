// A node of a parsed expression, as the library builds it and as the dialect changes it.

type Evaluate = (evaluator: Evaluator, node: Node, context: Context) => unknown;
export type Evaluator = unknown;
export interface Context {
  getValue(name: string): unknown;
}
interface Checker {
  readonly boolType: unknown;
  readonly dynType: unknown;
  check(node: Node, context: Context): unknown;
}

/** The library's parsed node. Its types leave out what its own macros use: meta, setMeta, evaluate, handle. */
export interface Node {
  readonly op: string;
  // biome-ignore lint/suspicious/noExplicitAny: its shape is the operator's, and the library's own types leave it open
  readonly args: any;
  readonly start: number;
  readonly end: number;
  readonly input: string;
  readonly meta: { readonly alternate?: Node; readonly evaluate: Evaluate };
  setMeta(key: "check", check: (checker: Checker, node: Node, context: Context) => unknown): void;
  /** The library's own meaning, chosen from the operands' types when the expression was checked. */
  handle: (...args: unknown[]) => unknown;
  evaluate: Evaluate;
}
