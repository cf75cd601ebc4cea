// The picture of a summary: bars on a card of its own colour, in the manner of docs/picture.svg, so that a light and a dark page
// show it alike.
import { count, inRounds, ms, type Standing, type Summary, times } from "./summary.ts";

const left = 32;
const barsAt = 272;
// The room left beside the longest bar holds its label.
const barsWide = 310;
const rowHigh = 34;

interface Row {
  readonly name: string;
  readonly value: number;
  readonly label: string;
  /** A thin line from the bar on, for a tail. */
  readonly tail?: number;
}

export function plotOf({ machine, rounds, standings }: Summary): string {
  const loaded = standings.map(
    ({ name, perSecond, idemThroughput }, i): Row => ({
      name,
      value: perSecond.median,
      label: count(perSecond.median) + (i === 0 ? "" : ` · Idem does ${times(idemThroughput)}`),
    }),
  );
  const alone = standings.map(
    ({ name, p50Ms, p99Ms, idemLatency }, i): Row => ({
      name,
      value: p50Ms.median,
      tail: p99Ms.median,
      label: `${ms(p50Ms.median)} / ${ms(p99Ms.median)} ms${i === 0 ? "" : ` · ${times(idemLatency)} Idem's p50`}`,
    }),
  );
  const second = 108 + standings.length * rowHigh;
  const high = second + standings.length * rowHigh + 52;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 860 ${high}" font-family="ui-sans-serif, system-ui, sans-serif" font-size="14" role="img" aria-label="${escaped(spoken(standings))}">
  <rect width="860" height="${high}" rx="12" fill="#0f172a"/>
  <text x="${left}" y="42" font-size="18" font-weight="600" fill="#e2e8f0">A durable run of three steps, beside its peers</text>
${panel(70, "runs per second, 100 in flight: longer is better", loaded)}
${panel(second, "one at a time, p50 bar and p99 line: shorter is better", alone)}
  <text x="${left}" y="${high - 18}" font-size="12" fill="#94a3b8">${escaped(
    `${machine.cpu}, ${machine.cores} cores · every commit synced to disk · medians of ${inRounds(rounds)} · ${machine.takenAt.slice(0, 10)}`,
  )}</text>
</svg>
`;
}

function panel(top: number, title: string, rows: readonly Row[]): string {
  const longest = Math.max(...rows.map(({ value, tail = 0 }) => Math.max(value, tail)));
  const wide = (value: number): number => Math.max(2, Math.round((value / longest) * barsWide));
  const bars = rows.map(({ name, value, label, tail }, i) => {
    const y = top + 12 + i * rowHigh;
    const [bar, end] = [wide(value), wide(Math.max(value, tail ?? 0))];
    const [fill, ink] = i === 0 ? ["#34d399", "#6ee7b7"] : ["#64748b", "#e2e8f0"];
    return [
      `  <text x="${left}" y="${y + 17}" fill="#e2e8f0"${i === 0 ? ' font-weight="600"' : ""}>${escaped(name)}</text>`,
      `  <rect x="${barsAt}" y="${y}" width="${bar}" height="24" rx="4" fill="${fill}"/>`,
      ...(tail === undefined
        ? []
        : [
            `  <path d="M${barsAt + bar} ${y + 12} H${barsAt + end} M${barsAt + end} ${y + 6} v12" stroke="${fill}" stroke-width="2"/>`,
          ]),
      `  <text x="${barsAt + end + 8}" y="${y + 17}" fill="${ink}">${escaped(label)}</text>`,
    ].join("\n");
  });
  return [`  <text x="${left}" y="${top}" fill="#94a3b8">${escaped(title)}</text>`, ...bars].join("\n");
}

const spoken = (standings: readonly Standing[]): string =>
  standings
    .map(
      ({ name, perSecond, p50Ms }) =>
        `${name}: ${count(perSecond.median)} runs per second with 100 in flight, ${ms(p50Ms.median)} ms alone`,
    )
    .join("; ");

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
