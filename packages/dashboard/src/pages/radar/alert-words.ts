// An alert in sentences: what, since when, how close together. The facts are the server's.
import { entityOf, lastNameOf } from "../../../../idem/src/radar/fields.ts";
import { plainOf } from "../../../../idem/src/stories/story-words.ts";
import { timeOfId } from "../../parts/id-time.ts";
import { visibleText } from "../../parts/visible-text.ts";
import type { Alert, Pair } from "./radar-data.ts";

/** Magenta is for what happened twice; a wrong suppression is not that. */
export const isTwice = ({ kind, of }: Pick<Alert, "kind" | "of">): boolean =>
  kind === "doubled-runs" || kind === "key-ran-again" || kind === "maybe-doubled" || (kind === "rule" && of === "run");

/** `event.data.placementId` → "placement": what the field names. */
export function entityNoun(subject: string): string {
  const noun = entityOf(subject.split(" + ").at(-1)!);
  return subject.startsWith("event.data") && noun !== "" ? noun : "key";
}

export function plural(noun: string, count: number): string {
  if (count === 1) return noun;
  return /[^aeiou]y$/.test(noun) ? `${noun.slice(0, -1)}ies` : /(s|x|ch|sh)$/.test(noun) ? `${noun}es` : `${noun}s`;
}

/** A value for people: text without its quotes. */
export const entityText = (json: string): string => visibleText(plainOf(json));

export interface Gathered {
  readonly entity: string;
  readonly pairs: readonly Pair[];
  /** Between the first and the one after it; null where one stands alone. */
  readonly gapMs: number | null;
}

/** One for each thing, newest first. */
export function gather(pairs: readonly Pair[]): readonly Gathered[] {
  const byEntity = new Map<string, Pair[]>();
  for (const pair of pairs) {
    const known = byEntity.get(pair.entity);
    if (known === undefined) byEntity.set(pair.entity, [pair]);
    else known.push(pair);
  }
  return [...byEntity].map(([entity, own]) => ({ entity, pairs: own, gapMs: gapOf(own.at(-1)!) }));
}

export function gapOf({ firstId, laterId, at }: Pair): number | null {
  const first = firstId === null ? null : timeOfId(firstId);
  return first === null ? null : Math.max(0, (timeOfId(laterId) ?? at) - first);
}

export const firstAtOf = ({ firstId, at }: Pair): number => (firstId === null ? null : timeOfId(firstId)) ?? at;

/** The number of things, for the block: pairs that do not fit a page are counted as one thing each. */
export const entityCount = (gathered: readonly Gathered[], alert: Alert, listed: number): number =>
  gathered.length + Math.max(0, alert.pairCount - listed);

export function titleOf(alert: Alert, name: string, gathered: readonly Gathered[], count: number): string {
  const noun = entityNoun(alert.subject);
  switch (alert.kind) {
    case "doubled-runs":
    case "key-ran-again": {
      const often = gathered.every(({ pairs }) => pairs.length < 2) ? "twice" : "more than once";
      if (count === 1 && gathered[0] !== undefined)
        return `${name} ran ${often} for ${noun} ${entityText(gathered[0].entity)}`;
      return `${name} ran ${often} for ${count} ${plural(noun, count)}`;
    }
    case "maybe-doubled":
      return `${name} ran again with the same data ${count === 1 ? "once" : `${count} times`}: maybe the same`;
    case "key-missing":
      return `The key of ${name} was missing in ${count} ${plural("event", count)}; ${count === 1 ? "it" : "they"} ran`;
    case "key-too-broad":
    case "id-too-broad": {
      const fields = alert.differs.map(lastName).slice(0, 3).join(" and another ");
      const subject = count === 1 ? "A suppressed event" : `${count} suppressed events`;
      return `${subject} had another ${fields || "content"} than the one ${count === 1 ? "it was" : "they were"} answered with`;
    }
    case "id-under-two-names":
      return count === 1 ? "One event id arrived under two names" : `${count} event ids arrived under two names`;
    case "equal-events":
      return count === 1
        ? `2 nearly equal events ran ${name}, each under a key of its own`
        : `${count} nearly equal events ran ${name} again, each under a key of its own`;
    case "doubled-deliveries":
      return `The new source ${visibleText(alert.subject)} delivered the same thing again${count === 1 ? "" : ` ${count} times`}: maybe the same`;
    default:
      return alert.title;
  }
}

/** The last name of a path: "amount" of `event.data.amount`. */
export const lastName = (path: string): string => visibleText(lastNameOf(path));

const steps = [1, 2, 5, 10, 30, 60];

/** "Every pair arrived less than 2 s apart."; null where nothing is known of it. */
export function closeness(gathered: readonly Gathered[], of: Alert["of"]): string | null {
  const gaps = gathered.flatMap(({ gapMs }) => gapMs ?? []);
  if (gaps.length === 0) return null;
  const most = Math.max(...gaps) / 1_000;
  const bound = steps.find((each) => most < each);
  if (bound === undefined) return null;
  const noun = of === "run" ? "pair" : "pair of events";
  return gaps.length === 1
    ? `The two ${of === "run" ? "began" : "arrived"} less than ${bound} s apart.`
    : `Every ${noun} ${of === "run" ? "began" : "arrived"} less than ${bound} s apart.`;
}
