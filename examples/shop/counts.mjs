// One line of the table at the end: what it must be, and what it was.
export const line = (what, expected, seen) => ({ what, expected, seen });

export const isRight = ({ expected, seen }) => expected === seen;

/** How many of these have company: two charges of one order, two mails to one address. */
export function doubled(things, nameOf) {
  const counts = new Map();
  for (const thing of things) counts.set(nameOf(thing), (counts.get(nameOf(thing)) ?? 0) + 1);
  return [...counts.values()].filter((count) => count > 1).length;
}
