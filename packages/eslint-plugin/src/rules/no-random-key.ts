import { keyPlaces } from "../core/key-places.ts";
import { volatileIn } from "../core/trace.ts";
import { defineRule, type Found } from "../rule.ts";

export const noRandomKey = defineRule({
  name: "no-random-key",
  says: "A key is the same each time it is computed for the same thing: no chance, no clock, no counter of a process.",
  messages: {
    chance:
      "{{place}} is made of {{what}}: a new one each time, which nobody knows again. Make it of what it is about, event.data.…, or use the step's own key.",
    time: "{{place}} is made of {{what}}: the retry has another one. Make it of what it is about, event.data.…; for a schedule, of the instant it was due.",
    counter:
      "{{place}} is made of {{what}}, a variable that begins anew with every process. Make it of what it is about, event.data.…, or use the step's own key.",
  },
  everywhere: /\bsend\b/,
  *find(file): Iterable<Found> {
    for (const { node, what } of keyPlaces(file)) {
      const found = volatileIn(file, node);
      if (found !== null) yield { node, id: found.kind, data: { place: capital(what), what: found.what } };
    }
  },
});

export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
