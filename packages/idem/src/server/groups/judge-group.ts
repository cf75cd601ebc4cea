// The first run of a group, those that slipped through, and those a person asked for: the rules by which a group is loud. A further run
// slipped through when a key was claimed and released by hand; or, without a key, when it came within a minute or with the same payload. What
// `afterFailure: "release"` lets start after a failure was asked for by configuration: it is a first run again, and quiet.

import { chargeCost, readingCost } from "../../model/metered-cost.ts";
import type { KnownFunctions } from "../../radar/functions-known.ts";
import { isSameApart, nearMs } from "../../radar/guess-entities.ts";
import type { RunSummary } from "../../store/reads.ts";
import type { Gathered } from "./gather-groups.ts";

/** `maybe`: about the same thing by our best guess, and nothing more speaks for it. */
export const placesInGroup = ["first", "slipped", "maybe", "rerun"] as const;
export type PlaceInGroup = (typeof placesInGroup)[number];

export interface JudgedRun {
  readonly run: RunSummary;
  readonly place: PlaceInGroup;
}

export interface Judged {
  /** The first, then the others it ran again, then reruns. */
  readonly runs: readonly JudgedRun[];
  readonly slipped: number;
  readonly maybe: number;
  readonly reruns: number;
  /** Between a first run and the one that ran again; null when none did. */
  readonly gapMs: number | null;
  readonly isLoud: boolean;
}

// Some 3 ms of reading. Payloads that could not be compared are not taken for the same.
const comparedCharsMax = 384 * 1024;

export function judgeGroup(group: Gathered, functions: KnownFunctions): Judged {
  const asked = group.runs.filter(({ rerunOf }) => rerunOf === null);
  const reruns = group.runs.filter(({ rerunOf }) => rerunOf !== null);
  const room = { chars: comparedCharsMax };
  const places = asked.map((run, i): JudgedRun => ({ run, place: placeOf(group, asked, run, i, room) }));
  const slipped = places.filter(({ place }) => place === "slipped").length;
  const second = places.findIndex(({ place }) => place !== "first");
  return {
    runs: [...places, ...reruns.map((run): JudgedRun => ({ run, place: "rerun" }))],
    slipped,
    maybe: places.filter(({ place }) => place === "maybe").length,
    reruns: reruns.length,
    gapMs: second < 1 ? null : asked[second]!.createdAt - asked[second - 1]!.createdAt,
    isLoud: slipped > 0 && !functions.isSilenced(group.fn),
  };
}

function placeOf(
  group: Gathered,
  asked: readonly RunSummary[],
  run: RunSummary,
  index: number,
  room: { chars: number },
): PlaceInGroup {
  if (index === 0 || group.isAfterFailure(run.id)) return "first";
  if (run.key !== null) return "slipped";
  const before = asked[index - 1]!;
  if (run.createdAt - before.createdAt <= nearMs) return "slipped";
  const [one, other] = [group.dataOf(asked[0]!.id), group.dataOf(run.id)];
  if (one === null || other === null) return "maybe";
  room.chars -= one.length + other.length;
  if (room.chars < 0) return "maybe";
  chargeCost(readingCost(one) + readingCost(other));
  return isSameApart(one, other) ? "slipped" : "maybe";
}
