// A group in words and in shapes: the sentence of a key that ran twice, what a run answered, who asked.
import { timesWord } from "../../../../idem/src/stories/story-words.ts";
import type { GlyphName } from "../../parts/glyph.tsx";
import { lengthWords } from "../../parts/time-words.ts";
import type { GroupedRun, GroupItem } from "./groups-data.ts";

export const numberWords = (count: number): string => count.toLocaleString("en-US");

export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${numberWords(count)} ${count === 1 ? one : many}`;

/** Runs that nobody but an event asked for. */
export const timesRun = ({ runCount, counts }: GroupItem): number => runCount - counts.reruns;

/** "ran twice, 0.8 s apart"; "ran 3 times, the second 0.8 s after the first". */
export function ranWords(group: GroupItem): string {
  const times = timesRun(group);
  const gap = group.gapMs === null ? null : lengthWords(group.gapMs);
  const ran = `ran ${timesWord(times)}`;
  return gap === null ? ran : `${ran}, ${times === 2 ? "" : "first "}${gap} apart`;
}

/** "placementId 48213" in its two parts; a key that is no path has only a value. */
export function labelParts({ label, expression }: GroupItem): { readonly name: string | null; readonly value: string } {
  const field = /^event(?:\.\w+)*\.(\w+)$/.exec(expression ?? "")?.[1];
  if (field === undefined || !label.startsWith(`${field} `)) return { name: null, value: label };
  return { name: field, value: label.slice(field.length + 1) };
}

/** Lines of a doubled row: two, or three and how many more. */
export const linesShown = 3;

// Beyond five, four and how many more.
const glyphsMax = 5;

export interface Askers {
  readonly glyph: GlyphName;
  readonly shown: number;
  /** Beside those shown. */
  readonly more: number;
}

const some = (glyph: GlyphName, count: number): Askers[] =>
  count === 0
    ? []
    : [
        {
          glyph,
          shown: count <= glyphsMax ? count : glyphsMax - 1,
          more: count <= glyphsMax ? 0 : count - glyphsMax + 1,
        },
      ];

/** First, what slipped through, what was suppressed, what a person asked for. */
export const whoAsked = ({ counts }: GroupItem): readonly Askers[] => [
  { glyph: "first", shown: 1, more: 0 },
  ...some("slipped", counts.slipped),
  ...some("suppressed", counts.suppressed),
  ...some("rerun", counts.reruns),
];

/** The same for people who cannot see the shapes. */
export function whoAskedWords({ counts: { suppressed, slipped, reruns } }: GroupItem): string {
  const others = [
    slipped > 0 ? `${numberWords(slipped)} slipped through` : null,
    suppressed > 0 ? counted(suppressed, "duplicate suppressed", "duplicates suppressed") : null,
    reruns > 0 ? counted(reruns, "rerun") : null,
  ].filter((each) => each !== null);
  return ["first run", ...others].join(", ");
}

/** The two that are compared: the first run and the one after it; null where only one ran. */
export function comparedRuns({ runs }: GroupItem): readonly [GroupedRun, GroupedRun] | null {
  const [first, second] = runs;
  return first === undefined || second === undefined ? null : [first, second];
}

export const hasSeveralAskers = ({ runCount, counts }: GroupItem): boolean => runCount + counts.suppressed > 1;
