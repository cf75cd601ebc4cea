// A strip beside the list in which every doubled group has its place in the whole result, however far down it is.
import { visibleText } from "../../parts/visible-text.ts";
import { ranWords } from "./group-words.ts";
import type { GroupItem, TotalsAnswer } from "./groups-data.ts";
import "./ruler.css";

interface RulerProps {
  readonly loud: readonly GroupItem[];
  readonly totals: TotalsAnswer;
  /** A group's place among the rows, 0 to 1; null when it is not among them. */
  readonly placeAmong: (group: string) => number | null;
  readonly isBusy: boolean;
  readonly onJump: (group: string) => void;
}

// More than these would run into each other.
const thickMax = 40;

export function Ruler({ loud, totals, placeAmong, isBusy, onJump }: RulerProps) {
  return (
    <div className="ruler">
      <div className={`strip${isBusy ? " is-busy" : ""}${loud.length > thickMax ? " is-thin" : ""}`}>
        {loud.map((group) => (
          <button
            key={group.id}
            type="button"
            tabIndex={-1}
            style={{ top: `${(placeAmong(group.id) ?? placeOf(group, totals)) * 100}%` }}
            title={visibleText(`${group.label} ${ranWords(group)}`)}
            aria-label={visibleText(`Go to ${group.label}, ${ranWords(group)}`)}
            onClick={() => onJump(group.id)}
          />
        ))}
      </div>
    </div>
  );
}

/** The share of all keys that came after it: the bars say how many there were in each stretch of time. */
export function placeOf({ runs }: GroupItem, { buckets, bucketMs, first, until }: TotalsAnswer): number {
  const newest = Math.max(...runs.filter(({ kind }) => kind !== "rerun").map(({ createdAt }) => createdAt));
  if (first === 0 || !Number.isFinite(newest)) return 0;
  let after = 0;
  for (const bucket of buckets) {
    if (bucket.at > newest) after += bucket.first;
    else if (bucket.at + bucketMs > newest) {
      const end = Math.min(bucket.at + bucketMs, until);
      after += bucket.first * ((end - newest) / Math.max(1, end - bucket.at));
    }
  }
  return Math.min(1, after / first);
}
