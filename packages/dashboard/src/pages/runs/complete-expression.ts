// Completions for an expression being typed: fields of events that came lately, and whole examples to begin with.

export const examples: readonly string[] = [
  "event.data.amount > 100",
  'event.data.email == "ann@example.com"',
  "has(event.data.coupon) && output != null",
  'event.data.items.exists(item, item.sku == "A-7")',
];

const suggestedMax = 8;
const typing = /(?:^|[^\w.\])])((?:event|output)(?:\.\w*)*)$/;

/** The text with its last path completed, the shortest first; examples where nothing is typed yet. */
export function completions(typed: string, paths: readonly string[]): readonly string[] {
  if (typed.trim() === "") return examples;
  const begun = typing.exec(typed)?.[1];
  if (begun === undefined) {
    // "ord" may be the beginning of a field as well as a text.
    const word = /^\w{2,}$/.test(typed.trim()) ? typed.trim().toLowerCase() : null;
    return word === null
      ? []
      : paths.filter((path) => path.split(".").at(-1)!.toLowerCase().startsWith(word)).slice(0, suggestedMax);
  }
  const before = typed.slice(0, typed.length - begun.length);
  return paths
    .filter((path) => path.startsWith(begun) && path !== begun)
    .sort((a, b) => a.length - b.length || (a < b ? -1 : 1))
    .slice(0, suggestedMax)
    .map((path) => before + path);
}
