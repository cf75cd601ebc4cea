// Things that exist twice now, and how many can still be stopped.
import { visibleText } from "../../parts/visible-text.ts";
import type { LaterStates, MadePair } from "./made-twice.ts";

interface MadeTwiceProps {
  readonly count: number;
  readonly made: readonly MadePair[] | null;
  readonly states: LaterStates | null;
  readonly destinations: readonly string[];
}

export function MadeTwice({ count, made, states, destinations }: MadeTwiceProps) {
  if (made === null) return null;
  const found = made.find((each) => each.made !== null)?.made ?? null;
  return (
    <>
      {found === null ? (
        <p>
          {destinations.length > 0 ? (
            <>
              Sent twice to <b>{destinations.map(visibleText).join(", ")}</b>.
            </>
          ) : (
            "No step gave the two runs an outcome of their own: nothing that is known was made twice."
          )}
        </p>
      ) : (
        <p>
          <b>
            {count} × <bdi className="mono">{visibleText(found.step)}</bdi>
          </b>{" "}
          too many{destinations.length > 0 && <>, sent to {destinations.map(visibleText).join(", ")}</>}.
        </p>
      )}
      {states !== null && states.open + states.ended > 0 && <p>{statesWords(states)}</p>}
    </>
  );
}

function statesWords({ open, ended }: LaterStates): string {
  const open1 =
    open === 1
      ? "1 of the later runs is still open and can be cancelled"
      : `${open} of the later runs are still open and can be cancelled`;
  const ended1 = ended === 1 ? "1 has ended" : `${ended} have ended`;
  return open === 0
    ? `The later ${ended === 1 ? "run has" : `${ended} runs have`} ended: nothing can be stopped any more.`
    : ended === 0
      ? `${open1}.`
      : `${open1}, ${ended1}.`;
}
