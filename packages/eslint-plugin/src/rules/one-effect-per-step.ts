import { isGuarded } from "../core/database.ts";
import type { Step } from "../core/durable.ts";
import type { Effect } from "../core/effects.ts";
import type { File } from "../core/file.ts";
import { ancestors, bare, isCall, isEither, loopAround, memberName, type Node } from "../core/syntax.ts";
import { defineRule, type Found } from "../rule.ts";

export const oneEffectPerStep = defineRule({
  name: "one-effect-per-step",
  says: "A step does one thing: when the second fails, the first is done again with it.",
  messages: {
    second:
      "{{step}} does {{first}} and then {{second}}. When the second fails, the step is tried again and the first is done twice. Give each a step of its own.",
    loop: "{{step}} does {{first}} once for each turn of a loop. When one turn fails, those before it are done again. Put the step into the loop, with what the turn is about in its id.",
    sameKey:
      "{{first}} and {{second}} carry the same key of {{step}}: the second is taken for a retry of the first. Give each a step of its own.",
    loopKey:
      "{{first}} carries the same key of {{step}} in every turn of the loop: only the first turn gets anything. Put the step into the loop.",
  },
  *find(file): Iterable<Found> {
    for (const step of file.durable.steps) {
      if (step.body === null || step.tool === "transaction") continue;
      yield* ofStep(file, step, step.body);
    }
  },
});

function* ofStep(file: File, step: Step, body: Node): Iterable<Found> {
  const effects = file.effects
    .filter(
      ({ node, kind }) =>
        kind !== "model" && file.durable.placesOf(node).some((place) => place.kind === "step" && place.step === step),
    )
    .sort((a, b) => a.node.range[0] - b.node.range[0]);
  const data = { step: step.name };
  for (const effect of effects) {
    const loop = loopAround(effect.node, body);
    if (loop === null || !effect.makes) continue;
    const key = file.keyOf(effect);
    if (isUnsafe(file, effect)) yield { node: effect.node, id: "loop", data: { ...data, first: effect.what } };
    else if (key.state === "keyed" && file.isStepKey(key.node) && isForEach(loop))
      yield { node: effect.node, id: "loopKey", data: { ...data, first: effect.what } };
  }
  for (const [i, effect] of effects.entries()) {
    const before = effects
      .slice(0, i)
      .filter((each) => !isEither(each.node, effect.node) && !areTogether(each.node, effect.node));
    const first = before.find((each) => isUnsafe(file, each) && loopAround(each.node, body) === null);
    if (first !== undefined) {
      yield { node: effect.node, id: "second", data: { ...data, first: first.what, second: effect.what } };
      return;
    }
    const twin = before.find((each) => hasSameKey(file, each, effect));
    if (twin !== undefined)
      yield { node: effect.node, id: "sameKey", data: { ...data, first: twin.what, second: effect.what } };
  }
}

/** A retry's loop goes on with the same thing; one over a list has another one each time. */
const isForEach = (loop: Node): boolean => loop.type === "ForOfStatement" || loop.type === "CallExpression";

function isUnsafe(file: File, effect: Effect): boolean {
  return effect.makes && file.keyOf(effect).state === "unkeyed" && !isGuarded(file.names, effect.node);
}

/** Statements of one transaction are one effect. */
function areTogether(one: Node, other: Node): boolean {
  const [mine, theirs] = [transactionAround(one), transactionAround(other)];
  return mine !== null && mine === theirs;
}

function transactionAround(node: Node): Node | null {
  for (const each of ancestors(node)) {
    if (
      isCall(each) &&
      /^(\$?transaction\w*|withTransaction|runTransaction|begin)$/.test(memberName(bare(each.callee)) ?? "")
    )
      return each;
  }
  return null;
}

function hasSameKey(file: File, one: Effect, other: Effect): boolean {
  if (!one.makes || !other.makes || one.provider?.name !== other.provider?.name || one.provider === null) return false;
  const [mine, theirs] = [file.keyOf(one), file.keyOf(other)];
  return mine.state === "keyed" && theirs.state === "keyed" && file.isStepKey(mine.node) && file.isStepKey(theirs.node);
}
