import { passKey } from "../core/edits.ts";
import type { Effect } from "../core/effects.ts";
import type { File } from "../core/file.ts";
import { ancestors, bare, isCall, memberName, type Node, nameOf, textOf } from "../core/syntax.ts";
import { defineRule, type Found } from "../rule.ts";

export const destinationKey = defineRule({
  name: "destination-key",
  says: "What a step makes elsewhere carries a key by which the other side knows it again.",
  suggests: true,
  options: [
    {
      type: "object",
      properties: {
        // "all": also requests to hosts nobody described, and providers that take no key.
        calls: { enum: ["known", "all"] },
      },
      additionalProperties: false,
    },
  ],
  messages: {
    missing:
      "{{what}} carries no key. When its answer is lost or the process dies behind it, the step makes it again. {{provider}} takes one: {{way}}.",
    post: "{{what}} carries no key, and makes another one each time the step is tried again. Send an Idempotency-Key ({{way}}), or PUT it under a name of its own.",
    keyless: "A second try of {{what}} cannot be told from the first: {{provider}} takes no key. {{out}}",
    constant:
      'The key of {{what}} is "{{key}}" for every event: only the first one gets anything. Put what it is about into it, event.data.…, or use the step\'s own key.',
    pass: "Pass a key",
  },
  *find(file, options): Iterable<Found> {
    for (const effect of file.effects) {
      const step = file.durable.placesOf(effect.node).find((place) => place.kind === "step");
      if (step?.kind !== "step") continue;
      const key = file.keyOf(effect);
      const text = key.state === "keyed" ? textOf(file.names.valueOf(key.node)) : null;
      if (text !== null && key.state === "keyed")
        yield { node: key.node, id: "constant", data: { what: effect.what, key: text } };
      if (key.state !== "unkeyed" || !effect.makes || effect.kind === "event" || effect.kind === "database") continue;
      const { provider, what } = effect;
      const flavor = file.durable.functionAround(effect.node)?.flavor ?? "idem";
      const own =
        flavor === "idem" ? "the step's own, from ({ key }) => …" : "one made of event.id or of the business's own id";
      if (provider?.takesKey) {
        const edits = passKey(file, step.step, effect);
        yield {
          node: effect.node,
          id: "missing",
          data: { what, provider: provider.name, way: `${wayOf(effect)}, ${own}` },
          suggest: edits === null ? null : { id: "pass", edits },
        };
      } else if (options.calls === "all" && !isRecorded(file, step.step.tool, effect.node)) {
        if (provider !== null || effect.kind === "mail") {
          const out =
            flavor === "idem"
              ? "Use step.effect with reconcile, or the sent-log."
              : "Keep a log of what was sent and claim in it before sending, or hand it to a provider that takes keys.";
          yield {
            node: effect.node,
            id: "keyless",
            data: { what, provider: provider?.name ?? "as far as is known it", out },
          };
        } else if (effect.kind === "request") yield { node: effect.node, id: "post", data: { what, way: own } };
      }
    }
  },
});

function wayOf({ provider, request }: Effect): string {
  if (request !== null) return "the header Idempotency-Key";
  return provider?.key?.in === "options"
    ? `{ ${provider.key.name} } as the last argument`
    : `the field ${provider?.key?.name}`;
}

/** In step.effect, a sent-log or findOrCreateRemote, which know what was sent. */
function isRecorded(file: File, tool: string, node: Node): boolean {
  if (tool === "effect") return true;
  for (const each of ancestors(node)) {
    if (!isCall(each)) continue;
    const name = memberName(bare(each.callee)) ?? nameOf(each.callee);
    if (/^(once|findOrCreateRemote)$/.test(name)) return true;
    if (file.durable.stepOf(each) !== null) return false;
  }
  return false;
}
