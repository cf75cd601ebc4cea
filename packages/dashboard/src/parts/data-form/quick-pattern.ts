// Patterns of a schema that may be tried on text as it is typed. A pattern that repeats a repetition, `(a+)+`, can take longer than the
// universe for thirty characters, and the page with it; such ones, and those the browser cannot read, are left to the app.

const patternCharsMax = 1_000;
// With texts of 256 characters three of them take some 16 million steps at worst.
const repeatsMax = 3;

export function isQuickPattern(pattern: string): boolean {
  if (pattern.length > patternCharsMax || !isReadable(pattern)) return false;
  /** For each group that is open: whether something in it can be matched in more than one way. */
  const open: boolean[] = [];
  let repeats = 0;
  for (let i = 0; i < pattern.length; i++) {
    const char = pattern[i]!;
    if (char === "\\") {
      // A reference back to what was matched is beyond what is weighed here.
      if (/[1-9k]/.test(pattern[i + 1] ?? "")) return false;
      i++;
    } else if (char === "[") i = endOfClass(pattern, i);
    else if (char === "(") open.push(false);
    else if (char === "|") markOpen(open);
    else if (char === ")") {
      const isLoose = open.pop() === true;
      if (isLoose && repeatsAt(pattern, i + 1)) return false;
      if (isLoose) markOpen(open);
    } else if (isUnbounded(pattern, i)) {
      if (++repeats > repeatsMax) return false;
      markOpen(open);
    }
  }
  return true;
}

function isReadable(pattern: string): boolean {
  try {
    new RegExp(pattern, "u");
    return true;
  } catch {
    return false;
  }
}

function markOpen(open: boolean[]): void {
  if (open.length > 0) open[open.length - 1] = true;
}

function endOfClass(pattern: string, at: number): number {
  for (let i = at + 1; i < pattern.length; i++) {
    if (pattern[i] === "\\") i++;
    else if (pattern[i] === "]") return i;
  }
  return pattern.length;
}

const isUnbounded = (pattern: string, at: number): boolean =>
  pattern[at] === "*" || pattern[at] === "+" || /^\{\d+,(\d{3,})?\}/.test(pattern.slice(at, at + 12));

const repeatsAt = (pattern: string, at: number): boolean => /^[*+{]/.test(pattern.slice(at, at + 1));
