// The size of a regular expression once it is compiled, read off its text: a repetition multiplies what it repeats, and RE2 writes
// out every copy. Compiling takes as long as that is large, so it is asked before.

const unicodeClassWeight = 30;
const repetition = /\{(\d{1,9})(,?)(\d{0,9})\}/y;
const groupStart = /\(\?(?:P?<[^>]*>|[a-zA-Z]*-?[a-zA-Z]*:?)/y;
const bracedEscape = /\\[pPx]\{[^}]*\}/y;

/** About the number of instructions; never less than a tenth of them. Whether it is a pattern at all is for RE2 to say. */
export function patternWeight(pattern: string): number {
  const open: number[] = [];
  let sum = 0;
  /** The weight of the part right before, which a repetition would repeat. */
  let last = 0;
  const add = (weight: number) => {
    sum += weight;
    last = weight;
  };
  for (let i = 0; i < pattern.length; ) {
    const char = pattern[i]!;
    if (char === "\\") {
      const { weight, end } = escapeAt(pattern, i);
      add(weight);
      i = end;
    } else if (char === "[") {
      const { weight, end } = classAt(pattern, i);
      add(weight);
      i = end;
    } else if (char === "(") {
      open.push(sum);
      sum = 0;
      last = 0;
      i = endOf(groupStart, pattern, i) ?? i + 1;
    } else if (char === ")") {
      const inner = sum + 2;
      sum = open.pop() ?? 0;
      add(inner);
      i += 1;
    } else if (char === "{") {
      repetition.lastIndex = i;
      const found = repetition.exec(pattern);
      if (found === null) add(1);
      else {
        const [whole, least, , most] = found as unknown as [string, string, string, string];
        const times = Math.max(1, Number(least), Number(most));
        sum += last * times;
        last *= times + 1;
        i += whole.length - 1;
      }
      i += 1;
    } else if (char === "*" || char === "+" || char === "?") {
      sum += 1;
      last += 1;
      i += 1;
    } else {
      add(1);
      i += 1;
    }
  }
  for (const outer of open) sum += outer;
  // Letters of either case.
  return /\(\?[a-zA-Z]*i/.test(pattern) ? sum * 2 : sum;
}

interface Part {
  readonly weight: number;
  readonly end: number;
}

function escapeAt(pattern: string, at: number): Part {
  const kind = pattern[at + 1];
  if (kind === "Q") {
    const close = pattern.indexOf("\\E", at);
    const end = close === -1 ? pattern.length : close + 2;
    return { weight: end - at, end };
  }
  const end = endOf(bracedEscape, pattern, at) ?? at + (kind === "p" || kind === "P" ? 3 : 2);
  return { weight: kind === "p" || kind === "P" ? unicodeClassWeight : 1, end };
}

function classAt(pattern: string, at: number): Part {
  let weight = 1;
  let i = at + 1;
  if (pattern[i] === "^") i += 1;
  // A bracket that comes first stands for itself.
  if (pattern[i] === "]") i += 1;
  while (i < pattern.length && pattern[i] !== "]") {
    if (pattern[i] === "\\") {
      const part = escapeAt(pattern, i);
      weight += part.weight;
      i = part.end;
    } else if (pattern.startsWith("[:", i) && pattern.indexOf(":]", i) !== -1) {
      weight += 1;
      i = pattern.indexOf(":]", i) + 2;
    } else {
      weight += 1 / 32;
      i += 1;
    }
  }
  return { weight, end: i + 1 };
}

function endOf(sticky: RegExp, text: string, at: number): number | null {
  sticky.lastIndex = at;
  return sticky.test(text) ? sticky.lastIndex : null;
}
