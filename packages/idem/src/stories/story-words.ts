// Small words of stories: names of things, counts, lengths of time.

/** Of ids that others made: longer ones are cut in the middle, for their ends are the telling part. */
const idCharsMax = 48;

export function shortId(id: string): string {
  const chars = [...id];
  if (chars.length <= idCharsMax) return id;
  return `${chars.slice(0, idCharsMax - 9).join("")}…${chars.slice(-8).join("")}`;
}

const small = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"];

/** "two events", "41 events" */
export const some = (count: number, one: string, many = `${one}s`): string =>
  `${small[count] ?? count} ${count === 1 ? one : many}`;

export const timesWord = (count: number): string => (count === 1 ? "once" : count === 2 ? "twice" : `${count} times`);

export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** "0.8 s", "4 m", "3 h", "2 d" */
export function lengthOf(ms: number): string {
  if (ms < 1_000) return ms < 100 ? `${Math.round(ms)} ms` : `${Number((ms / 1_000).toFixed(1))} s`;
  if (ms < 60_000) return `${Number((ms / 1_000).toFixed(1))} s`;
  if (ms < 3_600_000) return `${Math.round(ms / 60_000)} m`;
  return ms < 172_800_000 ? `${Math.round(ms / 3_600_000)} h` : `${Math.round(ms / 86_400_000)} d`;
}

/** JSON text as people write it: text without its quotes. */
export function plainOf(json: string): string {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === "string" ? value : json;
  } catch {
    return json;
  }
}

/** In the order each was met first. */
export function grouped<Row>(rows: readonly Row[], by: (row: Row) => string): Map<string, Row[]> {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const group = groups.get(by(row));
    if (group === undefined) groups.set(by(row), [row]);
    else group.push(row);
  }
  return groups;
}
