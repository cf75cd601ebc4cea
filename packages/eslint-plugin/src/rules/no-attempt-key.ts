import { attemptIn } from "../core/attempts.ts";
import { takeKey } from "../core/edits.ts";
import type { File } from "../core/file.ts";
import { keyPlaces } from "../core/key-places.ts";
import { bare, type Node } from "../core/syntax.ts";
import { defineRule, type Found, type Suggestion } from "../rule.ts";
import { capital } from "./no-random-key.ts";

const perTry = new Set(["attempt", "entered", "maxAttempts", "runId"]);

export const noAttemptKey = defineRule({
  name: "no-attempt-key",
  says: "A key has no part that changes with the try or with the run: those are what it has to hold together.",
  suggests: true,
  messages: {
    attempt:
      "{{place}} contains {{what}}, which is another one with each try: the retry is taken for something new. Leave it out, or use the step's own key.",
    run: "{{place}} contains runId: a rerun, and a second run for the same thing, has another one. Make it of what it is about, event.data.…{{own}}.",
    own: "Use the step's own key",
  },
  *find(file): Iterable<Found> {
    for (const { node, what, role } of keyPlaces(file)) {
      if (role === "address") continue;
      const found = attemptIn(file, node, perTry);
      if (found === null) continue;
      const step = file.durable.stepAround(node);
      const isIdem = file.durable.functionAround(node)?.flavor === "idem";
      const own = isIdem && step !== null ? ", or use the step's own key" : "";
      const suggest = isIdem && role === "destination" ? suggested(file, node) : null;
      yield {
        node,
        id: found === "runId" ? "run" : "attempt",
        data: { place: capital(what), what: found, own },
        suggest,
      };
    }
  },
});

function suggested(file: File, node: Node): Suggestion | null {
  const step = file.durable.stepAround(node);
  const edits = step === null ? null : takeKey(file, step);
  return edits === null || bare(node) !== node
    ? null
    : { id: "own", edits: [...edits, { range: node.range, text: "key" }] };
}
