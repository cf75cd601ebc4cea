// The figures that were published, one line for each time, with the commit and the machine they belong to; and a picture of them. Figures of
// different machines are not compared: a line is drawn between neighbours of one machine only.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Machine, root } from "./machine.ts";

/** A figure with what its turns gave: lowest, middle, highest. */
export interface Spread {
  readonly low: number;
  readonly middle: number;
  readonly high: number;
}

export interface Published {
  readonly commit: string;
  readonly takenAt: string;
  readonly machine: Pick<Machine, "cpu" | "cores" | "memoryGb" | "node">;
  /** By figure and what of it: `engine-100 perSecond`. */
  readonly figures: Readonly<Record<string, Spread>>;
}

export const historyFile = join(root, "bench", "history.json");
export const pictureFile = join(root, "docs", "bench-history.svg");

export const readHistory = (): readonly Published[] => JSON.parse(readFileSync(historyFile, "utf8")) as Published[];

/** One line for each, so that a change of it is a line. */
export const historyText = (history: readonly Published[]): string =>
  history.length === 0 ? "[]\n" : `[\n${history.map((each) => `  ${JSON.stringify(each)}`).join(",\n")}\n]\n`;

export function publish(
  machine: Machine,
  all: Readonly<Record<string, readonly Readonly<Record<string, number>>[]>>,
): void {
  const { commit, takenAt, cpu, cores, memoryGb, node } = machine;
  const figures: Record<string, Spread> = {};
  for (const [name, same] of Object.entries(all)) {
    for (const of of Object.keys(same[0] ?? {})) figures[`${name} ${of}`] = spreadOf(same.map((figure) => figure[of]!));
  }
  const history = [...readHistory(), { commit, takenAt, machine: { cpu, cores, memoryGb, node }, figures }];
  writeFileSync(historyFile, historyText(history));
  writeFileSync(pictureFile, pictureOf(history));
}

function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b).map((value) => Number(value.toPrecision(4)));
  return { low: sorted[0]!, middle: sorted[Math.floor(sorted.length / 2)]!, high: sorted.at(-1)! };
}

const panels = [
  { of: "engine-100 perSecond", title: "runs per second, 100 in flight: higher is better" },
  { of: "engine-1 p50Ms", title: "one at a time, p50 in ms: lower is better" },
  { of: "sleepers megabytes", title: "100,000 sleeping runs, MB: lower is better" },
] as const;
const left = 32;
const wide = 796;
const panelHigh = 150;
const drawHigh = 88;

/** On a card of its own colour, as docs/bench.svg, so that a light and a dark page show it alike. */
export function pictureOf(history: readonly Published[]): string {
  const high = 64 + panels.length * panelHigh + 20;
  const drawn = panels.map(({ of, title }, n) => panel(history, of, title, 64 + n * panelHigh));
  const spoken =
    history.length === 0
      ? "No figures were published yet"
      : history
          .map(({ commit, figures }) => `${commit}: ${figures[panels[0].of]?.middle ?? "no"} runs per second`)
          .join("; ");
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 860 ${high}" font-family="ui-sans-serif, system-ui, sans-serif" font-size="13" role="img" aria-label="${escaped(spoken)}">
  <rect width="860" height="${high}" rx="12" fill="#0f172a"/>
  <text x="${left}" y="40" font-size="18" font-weight="600" fill="#e2e8f0">Published figures of npm run bench, oldest first</text>
${drawn.join("\n")}
</svg>
`;
}

function panel(history: readonly Published[], of: string, title: string, top: number): string {
  const heading = `  <text x="${left}" y="${top + 14}" fill="#94a3b8">${escaped(title)}</text>`;
  const points = history.flatMap((each, place) => {
    const spread = each.figures[of];
    return spread === undefined ? [] : [{ ...each, spread, place }];
  });
  if (points.length === 0) {
    return `${heading}\n  <text x="${left}" y="${top + 70}" fill="#64748b">not published yet</text>`;
  }
  const most = Math.max(...points.map(({ spread }) => spread.high));
  const x = (place: number) => left + 40 + Math.round(((wide - 80) * place) / Math.max(1, history.length - 1));
  const y = (value: number) => top + 26 + Math.round(drawHigh * (1 - value / most));
  const lines = points.slice(1).flatMap((point, n) => {
    const before = points[n]!;
    if (machineName(before.machine) !== machineName(point.machine)) return [];
    const [from, to] = [before, point].map(({ place, spread }) => `${x(place)} ${y(spread.middle)}`);
    return `  <path d="M${from} L${to}" stroke="#34d399" stroke-width="2" opacity="0.6"/>`;
  });
  const dots = points.map(({ place, spread, commit, takenAt, machine }) =>
    [
      `  <g><title>${escaped(`${commit}, ${takenAt}, ${machineName(machine)}: ${spread.middle} (${spread.low} to ${spread.high})`)}</title>`,
      `<path d="M${x(place)} ${y(spread.low)} V${y(spread.high)}" stroke="#64748b" stroke-width="2"/>`,
      `<circle cx="${x(place)}" cy="${y(spread.middle)}" r="4" fill="#34d399"/>`,
      `<text x="${x(place)}" y="${y(spread.high) - 6}" text-anchor="middle" fill="#6ee7b7">${spread.middle.toLocaleString("en-US")}</text>`,
      `<text x="${x(place)}" y="${top + 26 + drawHigh + 16}" text-anchor="middle" font-size="11" fill="#94a3b8">${escaped(commit)}</text></g>`,
    ].join(""),
  );
  return [heading, ...lines, ...dots].join("\n");
}

const machineName = ({ cpu, cores, node }: Published["machine"]): string => `${cpu}, ${cores} cores, Node ${node}`;

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
