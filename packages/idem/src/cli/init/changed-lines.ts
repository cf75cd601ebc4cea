// The new lines of a small text, and those that are gone. Pure.

/** Lines that both have, in their order, as long as can be. */
function commonLengths(before: readonly string[], after: readonly string[]): number[][] {
  const lengths = Array.from({ length: before.length + 1 }, () => new Array<number>(after.length + 1).fill(0));
  for (let i = before.length - 1; i >= 0; i--) {
    for (let j = after.length - 1; j >= 0; j--) {
      lengths[i]![j] =
        before[i] === after[j] ? lengths[i + 1]![j + 1]! + 1 : Math.max(lengths[i + 1]![j]!, lengths[i]![j + 1]!);
    }
  }
  return lengths;
}

/** In the order of the text, each with its sign. */
export function changedLines(before: string, after: string): { readonly sign: "+" | "-"; readonly line: string }[] {
  const old = before === "" ? [] : before.split(/\r?\n/);
  const now = after.split(/\r?\n/);
  const lengths = commonLengths(old, now);
  const changed: { sign: "+" | "-"; line: string }[] = [];
  let i = 0;
  let j = 0;
  while (i < old.length || j < now.length) {
    if (i < old.length && j < now.length && old[i] === now[j]) {
      i++;
      j++;
    } else if (j >= now.length || (i < old.length && lengths[i + 1]![j]! >= lengths[i]![j + 1]!))
      changed.push({ sign: "-", line: old[i++]! });
    else changed.push({ sign: "+", line: now[j++]! });
  }
  return changed;
}
