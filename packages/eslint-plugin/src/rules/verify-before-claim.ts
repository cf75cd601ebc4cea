import type { Effect } from "../core/effects.ts";
import type { File } from "../core/file.ts";
import {
  ancestors,
  bare,
  type Call,
  enclosingFunction,
  type Fn,
  isFunction,
  isWithin,
  memberName,
  type Node,
  nameOf,
  textOf,
} from "../core/syntax.ts";
import { defineRule, type Found } from "../rule.ts";

export const verifyBeforeClaim = defineRule({
  name: "verify-before-claim",
  says: "A webhook's signature is checked before anything of it is kept, claimed or sent on.",
  everywhere: /webhook|constructEvent|timingSafeEqual|verify|signature|\bPOST\b/i,
  messages: {
    before:
      "{{what}} comes before {{verify}}: whoever can reach this address could take the id of a delivery that is still to come, and the real one is then a duplicate. Verify first, then claim.",
    never:
      "{{what}} acts on a webhook whose signature nobody checks here. Verify it first (constructEvent, verify, or webhook() of idem/webhooks), then claim.",
  },
  *find(file, _options, path): Iterable<Found> {
    const verifying = file.calls.filter(isVerifying);
    const seen = new Set<Fn>();
    for (const call of verifying) {
      const fn = enclosingFunction(call);
      if (fn === null || seen.has(fn)) continue;
      seen.add(fn);
      const first = file.effects
        .filter(isClaim)
        .find(({ node }) => isWithin(node, fn) && node.range[0] < call.range[0] && enclosingFunction(node) === fn);
      if (first !== undefined)
        yield { node: first.node, id: "before", data: { what: first.what, verify: nameOf(call.callee) } };
    }
    if (
      verifying.length > 0 ||
      /verif|signature|hmac|constructEvent|unwrap|svix|idem\/webhooks/i.test(file.source.text)
    )
      return;
    for (const effect of file.effects.filter(isClaim)) {
      if (file.durable.placesOf(effect.node).length === 0 && isInReceiver(file, effect.node, path))
        yield { node: effect.node, id: "never", data: { what: effect.what } };
    }
  },
});

/** Takes an id, keeps a delivery or passes it on. */
const isClaim = ({ kind, statement }: Effect): boolean =>
  kind === "event" || kind === "queue" || (kind === "database" && statement?.act !== "delete");

function isVerifying(call: Call): boolean {
  const callee = bare(call.callee);
  const name = memberName(callee) ?? (callee.type === "Identifier" ? callee.name : "");
  if (
    /^(constructEvent(Async)?|timingSafeEqual|validateRequest|validateSignature|validateWebhook\w*|isValidSignature\w*|verify\w*(Signature|Webhook|Hmac|Request)\w*)$/i.test(
      name,
    )
  )
    return true;
  return name === "verify" && /webhook|wh|svix|signature/i.test(nameOf(callee));
}

function isInReceiver(file: File, node: Node, path: string): boolean {
  const isFile = /webhook/i.test(path.split(/[\\/]/).slice(-3).join("/")) && !/\.(test|spec)\./.test(path);
  for (const each of ancestors(node)) {
    if (!isFunction(each)) continue;
    if (each.parent.type === "CallExpression") {
      const route = each.parent.arguments.map((given) => textOf(given as Node)).find((text) => text !== null);
      const verb = memberName(bare(each.parent.callee));
      if ((verb === "post" || verb === "all" || verb === "use") && /webhook/i.test(route ?? "")) return true;
    }
    const name =
      each.type === "FunctionDeclaration"
        ? each.id?.name
        : each.parent.type === "VariableDeclarator" && each.parent.id.type === "Identifier"
          ? each.parent.id.name
          : undefined;
    if (isFile && name === "POST") return true;
    const takesRequest = each.params.some((param) => /^(req|request|ctx|c)\b/.test(file.text(param)));
    if (takesRequest && name !== undefined && /webhook/i.test(name)) return true;
  }
  return false;
}
