// An alert of a store that lost acknowledged writes: the writes that are known to be missing, and the processes that found it. Their ids lead
// nowhere: the store does not have them.
import { isBound } from "../../../../idem/src/store/history.ts";
import { Time } from "../../parts/time.tsx";
import { visibleText } from "../../parts/visible-text.ts";
import { entityText, plural } from "./alert-words.ts";
import type { Alert, Pair } from "./radar-data.ts";
import "./pair-table.css";

export const missingOf = (pairs: readonly Pair[]): readonly Pair[] => pairs.filter((pair) => !isBound(pair));

/** Those that do not fit a page are counted as well. */
export const missingCount = (alert: Alert, pairs: readonly Pair[]): number =>
  missingOf(pairs).length + Math.max(0, alert.pairCount - pairs.length);

interface LostWritesProps {
  readonly alert: Alert;
  readonly pairs: readonly Pair[];
  readonly shown: number;
}

export function LostWrites({ alert, pairs, shown }: LostWritesProps) {
  const missing = missingOf(pairs);
  const finders = [...new Set(pairs.filter(isBound).map(({ entity }) => entityText(entity)))].filter(Boolean).sort();
  const count = missingCount(alert, pairs);
  return (
    <>
      <div className="part">
        <h3>What to do</h3>
        <p>{visibleText(alert.next)}.</p>
        <p className="quiet">
          {count === 0
            ? "No single write is known to be missing."
            : `${count} acknowledged ${plural("write", count)} ${count === 1 ? "is" : "are"} known to be missing.`}
          {finders.length > 0 && ` Found by ${finders.join(", ")}.`}
        </p>
      </div>
      {missing.length > 0 && (
        <table className="pair-table">
          <thead>
            <tr>
              <th scope="col">Missing</th>
              <th scope="col">Id</th>
              <th scope="col" className="wide">
                Acknowledged
              </th>
            </tr>
          </thead>
          <tbody>
            {missing.slice(0, shown).map(({ entity, laterId, at }) => (
              <tr key={laterId}>
                <th scope="row">{entityText(entity)}</th>
                <td>
                  <bdi className="mono cut">{visibleText(laterId)}</bdi>
                </td>
                <td className="wide quiet">
                  <Time at={at} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </>
  );
}
