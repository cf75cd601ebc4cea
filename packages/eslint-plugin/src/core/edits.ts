// Changes of source that more than one rule proposes.
import type { TSESTree } from "@typescript-eslint/types";
import type { Edit } from "../rule.ts";
import type { Step } from "./durable.ts";
import type { Effect } from "./effects.ts";
import type { File } from "./file.ts";
import {
  argumentsOf,
  bare,
  enclosingFunction,
  type Fn,
  isCall,
  isFunction,
  type Node,
  patternProperty,
  propertyOf,
  textOf,
} from "./syntax.ts";

/** The step's key under the name `key` in its callback; null where the callback already uses its parameters otherwise. */
export function takeKey(file: File, step: Step): readonly Edit[] | null {
  const { body, tool } = step;
  if (body === null || (tool !== "run" && tool !== "effect") || step.call.arguments.length > (tool === "run" ? 2 : 3))
    return null;
  const [first] = body.params;
  if (first === undefined) {
    const text = file.text(body);
    const open = text.indexOf("(");
    if (!/^(async\s*)?(function\s*\w*\s*)?\(\s*\)/.test(text)) return null;
    return [{ range: [body.range[0] + open, body.range[0] + text.indexOf(")") + 1], text: "({ key })" }];
  }
  if (first.type !== "ObjectPattern") return null;
  const key = patternProperty(first, "key");
  if (key !== null) return key.value.type === "Identifier" && key.value.name === "key" ? [] : null;
  const [head] = first.properties;
  return head === undefined
    ? [{ range: [first.range[0], first.range[1]], text: "{ key }" }]
    : [{ range: [head.range[0], head.range[0]], text: "key, " }];
}

/** A key for the call from what its step has: the step's own in Idem, the event's id in Inngest. */
export function passKey(file: File, step: Step, effect: Effect): readonly Edit[] | null {
  if (!isCall(effect.node) || !isFunction(enclosingFunction(effect.node))) return null;
  const fn = file.durable.functionAround(effect.node);
  if (fn === null || file.durable.stepAround(effect.node) !== step) return null;
  const given = givenKey(file, step, fn.flavor === "idem", fn.handlers[0] ?? null);
  const put = given === null ? null : putKey(file, effect, given.key);
  return given === null || put === null ? null : [...given.edits, put];
}

function givenKey(
  file: File,
  step: Step,
  hasStepKey: boolean,
  handler: Fn | null,
): { key: string; edits: readonly Edit[] } | null {
  if (hasStepKey) {
    const edits = takeKey(file, step);
    return edits === null ? null : { key: "key", edits };
  }
  const [context] = handler?.params ?? [];
  const event = context?.type === "ObjectPattern" ? patternProperty(context, "event")?.value : null;
  const id = textOf(step.id);
  return event?.type === "Identifier" && id !== null ? { key: `\`${id}-\${${event.name}.id}\``, edits: [] } : null;
}

function putKey(file: File, { node, provider, request }: Effect, key: string): Edit | null {
  if (!isCall(node) || provider?.key == null) return null;
  const given = argumentsOf(node);
  if (request !== null)
    return putHeader(
      given
        .map((each) => bare(each))
        .find((each) => each.type === "ObjectExpression" && request.options.some((option) => bare(option) === each)),
      key,
    );
  const { name } = provider.key;
  const written = name === key ? key : `${name}: ${key}`;
  if (provider.key.in === "options") {
    if (given.length === 1) return { range: [given[0]!.range[1], given[0]!.range[1]], text: `, { ${written} }` };
    const options = given[1] === undefined ? null : bare(given[1]);
    return options?.type === "ObjectExpression" ? intoObject(options, written) : null;
  }
  const command = given[0] === undefined ? null : bare(given[0]);
  const fields =
    command?.type === "NewExpression" ? file.names.objectOf(command.arguments[0] as Node | undefined) : command;
  return fields?.type === "ObjectExpression" ? intoObject(fields, written) : null;
}

function putHeader(options: Node | undefined, key: string): Edit | null {
  if (options?.type !== "ObjectExpression") return null;
  const headers = propertyOf(options, "headers");
  if (headers === null) return intoObject(options, `headers: { "idempotency-key": ${key} }`);
  const value = bare(headers.value);
  return value.type === "ObjectExpression" ? intoObject(value, `"idempotency-key": ${key}`) : null;
}

export function intoObject(object: TSESTree.ObjectExpression, text: string): Edit {
  const last = object.properties.at(-1);
  if (last === undefined) return { range: [object.range[0], object.range[1]], text: `{ ${text} }` };
  return { range: [last.range[1], last.range[1]], text: `, ${text}` };
}
