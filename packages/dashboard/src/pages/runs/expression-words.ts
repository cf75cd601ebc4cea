// Text typed into the filter, read as it was meant.

const isExpression = /\b(event|output)\s*(\.|\[|==?|!=)|\bhas\(/;

/** Whether it speaks of `event` or `output`; everything else is text. */
export const speaksOfRun = (text: string): boolean => isExpression.test(text);

/** One `=` is meant as `==`, outside of what stands in quotes: nothing is assigned here. */
export const withEquals = (text: string): string =>
  text.replace(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[=!<>]=|=/g, (found) => (found === "=" ? "==" : found));
