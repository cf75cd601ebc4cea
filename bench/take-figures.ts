// Takes figures, each in a process of its own so that none inherits another's heap, and shows them.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

export type Figure = Record<string, number>;
export type Figures = Record<string, (scale: number) => Promise<Figure>>;

/** So many of them, or fewer when only a quick look is asked for. */
export const scaled = (n: number, scale: number): number => Math.max(200, Math.round(n * scale));

/** For a child: takes one figure and prints it as the last line. */
export async function takeOne(figures: Figures, name: string, scale: number): Promise<never> {
  process.stdout.write(`${JSON.stringify(await figures[name]!(scale))}\n`);
  process.exit(0);
}

/** Takes them in this order; a name may come several times. `program` calls takeOne when it is given `--figure`. */
export function takeAll(program: string, names: readonly string[], scale: number): Record<string, Figure[]> {
  const all: Record<string, Figure[]> = {};
  process.stderr.write(`Taking ${names.length} figures, each in a process of its own…\n`);
  for (const [n, name] of names.entries()) {
    process.stderr.write(`  ${String(n + 1).padStart(2)}/${names.length} ${name.padEnd(20)}`);
    const figure = takeEach(program, name, scale);
    if (figure === null) {
      process.stderr.write("failed\n");
      process.exitCode = 1;
      continue;
    }
    all[name] = [...(all[name] ?? []), figure];
    process.stderr.write(
      `${Object.entries(figure)
        .map(([what, value]) => `${what} ${round(value)}`)
        .join(" · ")}\n`,
    );
  }
  return all;
}

/** One, in a process of its own; null when it failed. */
export function takeEach(program: string, name: string, scale: number, env: NodeJS.ProcessEnv = {}): Figure | null {
  const child = spawnSync(
    process.execPath,
    ["--expose-gc", fileURLToPath(program), "--figure", name, "--scale", String(scale)],
    { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"], env: { ...process.env, ...env } },
  );
  return child.status === 0 ? (JSON.parse(child.stdout.trim().split("\n").at(-1)!) as Figure) : null;
}

/** A measurement, its figure, and the bar it is held against. */
export type Row = readonly [string, string, string];

export function printRows(rows: readonly Row[]): void {
  const width = Math.max(...rows.map(([what]) => what.length));
  for (const [what, figure, aim] of rows) console.log(`${what.padEnd(width)}  ${figure.padStart(16)}  ${aim}`);
}

export function round(n: number): string {
  return n >= 100 ? Math.round(n).toLocaleString("en-US") : n.toFixed(n >= 10 ? 1 : 2);
}
