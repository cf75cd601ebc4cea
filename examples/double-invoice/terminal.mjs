// How the story looks. In a terminal: colours (unless NO_COLOR), and one line of progress that is drawn over. In a pipe or
// in CI: the same words without escapes, and the progress as a few plain lines.
const { stdout } = process;
const isLive = stdout.isTTY === true && process.env.TERM !== "dumb";
const hasColours = isLive && !process.env.NO_COLOR;

const colour = (code) => (text) => (hasColours ? `\x1b[${code}m${text}\x1b[0m` : String(text));
export const bold = colour(1);
export const dim = colour(2);
export const red = colour(31);
export const green = colour(32);
export const yellow = colour(33);

const barWidth = 24;
const wipe = "\r\x1b[2K";
// The line of progress: as drawn in a terminal, as the last quarter told elsewhere.
let drawn = null;
let quarterTold = 0;

export function print(text = "") {
  if (drawn === null) stdout.write(`${text}\n`);
  else stdout.write(`${wipe}${text}\n${drawn}`);
}

/** Shows how far something is, until `finish`; `words` says it for people. */
export function showProgress(label, done, total, words) {
  if (isLive) {
    const filled = Math.floor((done / total) * barWidth);
    const bar = "█".repeat(filled) + "░".repeat(barWidth - filled);
    // A line that wraps cannot be wiped with one escape.
    const line = `  ${label} ${bar} ${done}/${total}  ${words}`.slice(0, (stdout.columns || 80) - 1);
    if (line === drawn) return;
    drawn = line;
    stdout.write(wipe + line);
    return;
  }
  const quarter = Math.floor((done / total) * 4);
  if (quarter <= quarterTold) return;
  quarterTold = quarter;
  stdout.write(`  ${label} ${done}/${total}  ${words}\n`);
}

/** The last state stays to be read: what comes next starts below it. */
export function finish() {
  if (drawn !== null) stdout.write("\n");
  drawn = null;
  quarterTold = 0;
}
