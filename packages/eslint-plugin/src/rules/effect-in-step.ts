import type { Effect } from "../core/effects.ts";
import type { File } from "../core/file.ts";
import { eventsOf } from "../core/keys.ts";
import {
  ancestors,
  enclosingFunction,
  type Fn,
  isCall,
  isFunction,
  type Node,
  patternProperty,
} from "../core/syntax.ts";
import { defineRule, type Edit, type Found, type Suggestion } from "../rule.ts";

export const effectInStep = defineRule({
  name: "effect-in-step",
  says: "What leaves something behind stands in a step: code between steps runs again with every step, retry and restart.",
  suggests: true,
  messages: {
    outside:
      '{{what}} stands outside of any step and happens again each time the function is entered. Put it into a step: step.run("…", () => …).',
    send: '{{what}} stands outside of any step and sends again each time the function is entered. Use step.sendEvent("…", …).',
    model:
      "{{what}} stands outside of any step: it is asked, and paid, again each time the function is entered, and answers otherwise. Put it into a step.",
    wrap: 'Put it into step.run("{{id}}", …)',
    sendEvent: 'Send it by step.sendEvent("{{id}}", …)',
  },
  *find(file): Iterable<Found> {
    for (const effect of file.effects) {
      const between = file.durable.placesOf(effect.node).find(({ kind }) => kind === "between");
      if (between === undefined) continue;
      const id = effect.kind === "event" ? "send" : effect.kind === "model" ? "model" : "outside";
      yield { node: effect.node, id, data: { what: effect.what }, suggest: suggested(file, effect) };
    }
  },
});

/** Only in a function that has `step` in reach, and for a call that is awaited there and then. */
function suggested(file: File, { node, kind, what }: Effect): Suggestion | null {
  const { parent } = node;
  if (!isCall(node) || parent?.type !== "AwaitExpression" || !hasStep(node)) return null;
  if (kind === "event") {
    const [event] = eventsOf(file.names, node);
    const id = `send-${(event?.name ?? "event").replace(/[^a-zA-Z0-9]+/g, "-")}`;
    if (event === undefined || node.arguments.length !== 1) return null;
    const edit: Edit = { range: [node.range[0], node.arguments[0]!.range[0]], text: `step.sendEvent("${id}", ` };
    return { id: "sendEvent", data: { id }, edits: [edit] };
  }
  // An answer of fetch cannot be recorded; what SDKs and databases answer can.
  if (kind === "request" || kind === "file") return null;
  const id = what
    .split(".")
    .slice(-2)
    .join("-")
    .replace(/\W+/g, "-")
    .replace(/([a-z])([A-Z])/g, "$1-$2")
    .toLowerCase();
  return {
    id: "wrap",
    data: { id },
    edits: [
      { range: [node.range[0], node.range[0]], text: `step.run("${id}", () => ` },
      { range: [node.range[1], node.range[1]], text: ")" },
    ],
  };
}

function hasStep(node: Node): boolean {
  for (const fn of [enclosingFunction(node), ...ancestors(node)]) {
    if (!isFunction(fn)) continue;
    const [context] = (fn as Fn).params;
    if (context?.type === "ObjectPattern") {
      const step = patternProperty(context, "step")?.value;
      if (step?.type === "Identifier" && step.name === "step") return true;
    }
  }
  return false;
}
