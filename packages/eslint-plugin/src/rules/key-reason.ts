import { functionKeyOf } from "../core/keys.ts";
import { propertyOf } from "../core/syntax.ts";
import { defineRule, type Found } from "../rule.ts";

export const keyReason = defineRule({
  name: "key-reason",
  says: "Beside each key stands why it is this one: whoever reviews it can only judge a reason.",
  messages: {
    silent:
      "Nothing says why {{key}} makes two events of {{fn}} the same. Write it beside the key: // one invoice for each placement.",
  },
  *find(file): Iterable<Found> {
    for (const fn of file.durable.functions) {
      const { property, expression, none } = functionKeyOf(file.names, fn);
      if (property === null || none !== null) continue;
      const object = file.names.objectOf(property.value);
      const because = object === null || propertyOf(object, "because") === null ? file.remarkBeside(property) : "said";
      if (because === null)
        yield { node: property, id: "silent", data: { fn: fn.id, key: file.text(expression ?? property.value) } };
    }
  },
});
