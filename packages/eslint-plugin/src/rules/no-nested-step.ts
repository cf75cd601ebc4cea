import { defineRule, type Found } from "../rule.ts";

export const noNestedStep = defineRule({
  name: "no-nested-step",
  says: "A step stands in no other step: the inner one would be recorded, and the outer one run again with it.",
  messages: {
    nested:
      "{{inner}} stands in {{outer}}. When {{outer}} is tried again, its code meets a step that is already recorded, or is refused. End {{outer}} first and hand its value on.",
  },
  *find(file): Iterable<Found> {
    for (const step of file.durable.steps) {
      const around = file.durable.placesOf(step.call).find((place) => place.kind === "step" && place.step !== step);
      if (around?.kind === "step")
        yield { node: step.call, id: "nested", data: { inner: step.name, outer: around.step.name } };
    }
  },
});
