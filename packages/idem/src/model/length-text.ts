// A length of time in words.

const shownUnits: readonly (readonly [number, string])[] = [
  [86_400_000, "d"],
  [3_600_000, "h"],
  [60_000, "min"],
  [1_000, "s"],
];

/** "3 h 2 min": the two largest units. */
export function lengthText(ms: number): string {
  const shown: string[] = [];
  let rest = ms;
  for (const [size, name] of shownUnits) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0 && shown.length < 2) shown.push(`${count} ${name}`);
    else if (shown.length > 0) break;
  }
  return shown.length === 0 ? `${ms} ms` : shown.join(" ");
}
