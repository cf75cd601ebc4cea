// The messages of channels: an alert, the report of a day, or that it works. One for every kind of channel; each writes it its way.
import type { Alert, AlertPair } from "../store/alerts.ts";
import { rollbackKind } from "../store/history.ts";
import { instant, times } from "./finding.ts";
import { type AlertFacts, wordsOf } from "./found-alert.ts";

export interface ChannelMessage {
  /** The same however often it is tried: by it a receiver knows what it has. */
  readonly id: string;
  readonly type: "radar.alert" | "radar.report" | "radar.test";
  readonly at: number;
  readonly title: string;
  readonly lines: readonly string[];
  /** The same, for programs. */
  readonly data: Readonly<Record<string, unknown>>;
}

export const pairsInMessage = 3;

/** `name` is how people call the alert's function. */
export function alertMessage(id: string, alert: Alert, pairs: readonly AlertPair[], name: string): ChannelMessage {
  const facts = JSON.parse(alert.facts) as AlertFacts;
  const { title, next, line } = wordsOf({ ...alert, facts }, name);
  // Where both may share all of the data, it stays at home.
  const entityOf = ({ entity }: AlertPair) => (/^(maybe-doubled|doubled-deliveries)$/.test(alert.kind) ? null : entity);
  const shown = pairs.slice(0, pairsInMessage).map((pair) => ({ ...pair, entity: entityOf(pair) }));
  const listed = shown.map(
    ({ entity, firstId, laterId }) =>
      `${entity === null ? facts.of : entity}: ${firstId === null ? "" : `${firstId}, then `}${laterId}`,
  );
  return {
    id,
    type: "radar.alert",
    at: alert.lastAt,
    title,
    lines: [
      next,
      // Its pairs are bounds in time, and ids that lead nowhere.
      ...(alert.kind === rollbackKind ? [] : listed),
      `First ${instant(alert.firstAt)}, last ${instant(alert.lastAt)}. Everything: idem radar ${alert.id}`,
    ],
    data: {
      alertId: alert.id,
      kind: alert.kind,
      function: alert.fn === "" ? null : alert.fn,
      subject: alert.subject,
      title,
      next,
      line,
      firstAt: alert.firstAt,
      lastAt: alert.lastAt,
      pairCount: alert.pairCount,
      of: facts.of,
      pairs: shown,
    },
  };
}

/** Something that is new, and what was found in it so far. */
export interface WatchedThing {
  readonly what: "function" | "source";
  readonly name: string;
  /** Its first day is 1. */
  readonly day: number;
  readonly alertCount: number;
  readonly pairCount: number;
}

export function reportMessage(
  id: string,
  day: string,
  things: readonly WatchedThing[],
  openCount: number,
  now: number,
): ChannelMessage {
  const found = things.filter(({ pairCount }) => pairCount > 0).length;
  const opened =
    openCount === 0 ? "no alert is open" : `${times(openCount, "alert")} ${openCount === 1 ? "is" : "are"} open`;
  const title = `Idem on ${day}: ${found} of ${times(things.length, "new thing")} had duplicates, ${opened}`;
  return {
    id,
    type: "radar.report",
    at: now,
    title,
    lines: [
      ...things.map(
        ({ what, name, day: nth, alertCount, pairCount }) =>
          `${what} "${name}", day ${nth} of 7: ${pairCount === 0 ? "nothing twice" : `${times(pairCount, "pair")} in ${times(alertCount, "alert")}`}`,
      ),
      "New functions and sources are watched closely for seven days. Everything: idem radar",
    ],
    data: { day, watched: things, openCount },
  };
}

export const testMessage = (id: string, channel: string, now: number): ChannelMessage => ({
  id,
  type: "radar.test",
  at: now,
  title: `This is a test of the channel "${channel}" of the duplicate radar`,
  lines: ["Nothing ran twice. Alerts will arrive here."],
  data: { channel },
});

export const messageText = ({ title, lines }: ChannelMessage): string => `${[title, "", ...lines].join("\n")}\n`;
