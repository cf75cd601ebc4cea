// The word that was probably meant: offered by refusals of an unknown option, parameter or name.

// A third of the longer word may differ: "stroe" is meant as "store", "idempotencyKey" as "idempotency"; "retries" is not "rate".
const differingShare = 3;
const beginningMin = 4;

/** The right word nearest to a wrong one, or null where none is near. Of several that are as near, the first. */
export function nearestWord(wrong: string, right: readonly string[]): string | null {
  const word = wrong.toLowerCase();
  let nearest: string | null = null;
  let smallest = Number.POSITIVE_INFINITY;
  for (const candidate of right) {
    const distance = editsBetween(word, candidate.toLowerCase());
    const allowed = Math.floor(Math.max(word.length, candidate.length) / differingShare);
    if (distance <= allowed && distance < smallest) [nearest, smallest] = [candidate, distance];
  }
  return nearest ?? longestBeginning(word, right);
}

/** `; did you mean "store"?`, or nothing: the end of a sentence that refuses a word. */
export function didYouMean(wrong: string, right: readonly string[]): string {
  const nearest = nearestWord(wrong, right);
  return nearest === null ? "" : `; did you mean "${nearest}"?`;
}

/** "pool_size" begins with "pool": longer than a slip, and still meant. */
function longestBeginning(word: string, right: readonly string[]): string | null {
  const begun = right.filter((candidate) => {
    const other = candidate.toLowerCase();
    const [short, long] = other.length < word.length ? [other, word] : [word, other];
    return short.length >= beginningMin && long.startsWith(short);
  });
  return begun.sort((a, b) => b.length - a.length)[0] ?? null;
}

/** Counts letters added, left out, changed or swapped with their neighbour, where no part is changed twice (Damerau–Levenshtein). */
function editsBetween(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1];
      row[j] = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + (isSame ? 0 : 1));
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (isSwapped) row[j] = Math.min(row[j]!, beforeLast[j - 2]! + 1);
    }
    [beforeLast, last] = [last, row];
  }
  return last[b.length]!;
}
