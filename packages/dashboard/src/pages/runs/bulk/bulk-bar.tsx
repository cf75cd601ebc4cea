// Over the list: how many rows are chosen, and what can be done to them; and bulk work that is going on, also from another page.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ask } from "../../../api/client.ts";
import { ActButton, Button } from "../../../parts/button.tsx";
import { numberWords } from "../group-words.ts";
import type { RunsView } from "../runs-view.ts";
import { type BulkAsked, BulkDialog } from "./bulk-dialog.tsx";
import { BulkProgress } from "./bulk-progress.tsx";
import { actionWords, type BulkAction, type BulkItem, isUnderWay, runsWords } from "./bulk-words.ts";
import type { Picks } from "./use-picks.ts";

const ended: readonly string[] = ["completed", "failed", "cancelled"];

/** The actions that make sense for runs of that state; all but `release` where they are of any. */
function actionsFor(state: string | undefined): readonly BulkAction[] {
  if (state === "parked") return ["release", "rerun", "cancel"];
  if (state === undefined) return ["rerun", "cancel", "release-keys"];
  return ended.includes(state) ? ["rerun", "release-keys"] : ["cancel", "rerun"];
}

const selectWords = (count: number | null): string =>
  count === null || count < 2 ? "Select all that match" : `Select all ${numberWords(count)} that match`;
const allWords = (count: number | null): string =>
  count === null
    ? "All that match are"
    : count === 1
      ? "The one that matches is"
      : `All ${numberWords(count)} that match are`;

export function BulkBar<Row>({
  view,
  picks,
  rowCount,
  matchCount,
}: {
  readonly view: RunsView;
  readonly picks: Picks<Row>;
  readonly rowCount: number;
  /** The number of runs the filter finds, where that is counted. */
  readonly matchCount: number | null;
}) {
  const [asked, setAsked] = useState<BulkAsked | null>(null);
  const [shown, setShown] = useState<BulkItem | null>(null);
  const { picked, all, chooseAll, clear } = picks;
  const isChosen = all !== null || picked.size > 0;
  const state = view.search.state ?? (view.search.show === "failed" ? "failed" : undefined);
  const { data: works } = useQuery({
    queryKey: ["bulk-works"],
    queryFn: async ({ signal }) => (await ask("GET /api/bulk", { signal })).bulk,
    staleTime: 10_000,
  });
  const goingOn = works?.filter(isUnderWay) ?? [];
  const begin = (action: BulkAction) => {
    const filter = all ?? { runs: [...picked] };
    setAsked({ action, filter, id: crypto.randomUUID() });
  };
  return (
    <>
      {goingOn.map((work) => (
        <p key={work.id} className="bulk-note">
          {actionWords[work.action ?? "rerun"].under(runsWords(work.matchedCount))}: {work.reason}{" "}
          <Button look="link" small onClick={() => setShown(work)}>
            Show how far it is
          </Button>
        </p>
      ))}
      {isChosen ? (
        <section className="bulk-bar" aria-label="Selected runs">
          <p role="status">
            <b>
              {all === null
                ? `${picked.size.toLocaleString("en")} of ${rowCount.toLocaleString("en")} shown here selected.`
                : `${allWords(matchCount)} selected.`}
            </b>{" "}
            {all === null && chooseAll !== null && (
              <Button look="link" small onClick={chooseAll}>
                {selectWords(matchCount)}
              </Button>
            )}
          </p>
          <span className="button-row">
            {actionsFor(state).map((action, i) => (
              <ActButton key={action} small look={i === 0 ? "primary" : "plain"} onClick={() => begin(action)}>
                {actionWords[action].button}
              </ActButton>
            ))}
            <Button small onClick={clear}>
              Clear
            </Button>
          </span>
        </section>
      ) : (
        view.isNarrowed &&
        chooseAll !== null &&
        rowCount > 0 && (
          <p className="bulk-offer">
            <Button look="link" small onClick={chooseAll}>
              {selectWords(matchCount)}
            </Button>
          </p>
        )
      )}
      {asked !== null && (
        <BulkDialog
          asked={asked}
          onClose={() => setAsked(null)}
          onStarted={(bulk) => {
            setAsked(null);
            setShown(bulk);
            clear();
          }}
        />
      )}
      {shown !== null && <BulkProgress bulk={shown} onClose={() => setShown(null)} />}
    </>
  );
}
