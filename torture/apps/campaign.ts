// Rounds of apps before nodes that die: what each form does, and what people read at the end.
import { appNames } from "./messages.ts";
import type { AppsResult, AppsShape } from "./round.ts";

/** A round of two minutes. */
export const appsShape: AppsShape = {
  nodes: 3,
  forMs: 100_000,
  meanGapMs: 4_000,
  startsPerSecond: 4,
  messagesPerSecond: 10,
};

export const shortAppsShape: AppsShape = { ...appsShape, forMs: 25_000, meanGapMs: 3_000 };

export function appsReport(rounds: readonly AppsResult[]): string {
  const sum = (pick: (round: AppsResult) => number) => rounds.reduce((total, round) => total + pick(round), 0);
  const kinds = [...new Set(rounds.flatMap(({ faults }) => Object.keys(faults)))].sort();
  const ofApp = (app: string) => sum(({ evidence }) => evidence.asked.filter((each) => each.app === app).length);
  const again = (app: string) =>
    sum(({ evidence }) => {
      const ofThis = [...evidence.entered].filter(([name]) => JSON.parse(name)[0] === app);
      return ofThis.reduce((total, [, count]) => total + count - 1, 0);
    });
  const lines: [string, number][] = [
    ["faults", sum(({ faults }) => Object.values(faults).reduce((a, b) => a + b, 0))],
    ...kinds.map((kind): [string, number] => [`  ${kind}`, sum(({ faults }) => faults[kind] ?? 0)]),
    ...appNames.flatMap((app): [string, number][] => [
      [`runs of ${app}`, ofApp(app)],
      ["  steps entered again", again(app)],
    ]),
    ["callers told no", sum(({ evidence }) => evidence.asked.filter(({ state }) => state === "refused").length)],
    [
      "messages acknowledged",
      sum(({ evidence }) => [...evidence.published.values()].filter((how) => how === "acknowledged").length),
    ],
    [
      "  not known to be",
      sum(({ evidence }) => [...evidence.published.values()].filter((how) => how === "unknown").length),
    ],
    ...[...new Set(rounds.flatMap(({ evidence }) => [...evidence.refusals.keys()]))].map((status): [string, number] => [
      `  answered with ${status}`,
      sum(({ evidence }) => evidence.refusals.get(status) ?? 0),
    ]),
    ["lines of subscribers", sum(({ evidence }) => evidence.subscribers.reduce((all, { lines }) => all + lines, 0))],
    ["violations", sum(({ violations }) => violations.length)],
  ];
  return lines.map(([name, count]) => `${name.padEnd(26)} ${String(count).padStart(8)}`).join("\n");
}
