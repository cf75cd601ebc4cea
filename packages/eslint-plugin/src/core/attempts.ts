// Values that change from try to try or from run to run: the attempt's number, how often it was entered, the run's id.
import type { File } from "./file.ts";
import { isFunction, memberName, type Node } from "./syntax.ts";
import { trace } from "./trace.ts";

/** The name of the first of these in an expression, if it is what a handler or a step's callback received. */
export function attemptIn(file: File, node: Node, names: ReadonlySet<string>): string | null {
  return trace(file, node, (part) => {
    if (part.type === "Identifier") {
      const def = file.names.variable(part)?.defs[0];
      if (def?.type !== "Parameter" || !isFunction(def.node as unknown as Node)) return null;
      const name = file.names.sourceOf(part).root.split(".").at(-1)!;
      return names.has(name) && isGiven(file, def.node as unknown as Node) ? name : null;
    }
    const name = memberName(part);
    if (name === null || !names.has(name) || part.type !== "MemberExpression" || part.object.type !== "Identifier")
      return null;
    const def = file.names.variable(part.object)?.defs[0];
    return def?.type === "Parameter" && isGiven(file, def.node as unknown as Node) ? name : null;
  });
}

/** Whether the function is called by the engine: a handler, or the body of a step. */
function isGiven(file: File, fn: Node): boolean {
  const isHandler = file.durable.functions.some(({ handlers }) => handlers.some((each) => each === fn));
  if (isHandler || file.durable.steps.some(({ body }) => body === fn)) return true;
  // A handler that is handed to a wrapper of createFunction: its steps' tools are its own parameter.
  return (
    isFunction(fn) && fn.params.some((param) => param.type === "ObjectPattern" && /\bstep\b/.test(file.text(param)))
  );
}
