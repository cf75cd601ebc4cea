// Runs, their keys, and whether anything ran more often than it should. Did anything happen twice?
import { PageTitle } from "../../frame/page-title.tsx";
import { ErrorPart } from "../../parts/error-part.tsx";
import { useNow } from "../../parts/now.ts";
import { useSettings } from "../../settings.ts";
import { EventList } from "./event-list.tsx";
import { FilterBar } from "./filter-bar.tsx";
import { FunctionList } from "./function-list.tsx";
import { GroupList } from "./group-list.tsx";
import { Headline, HeadlineToCome } from "./headline.tsx";
import { RunList } from "./run-list.tsx";
import { type RunsView, rangeWords, useRunsView } from "./runs-view.ts";
import { Summary } from "./summary.tsx";
import { type Groups, noGroups, useGroups, useLoudGroups } from "./use-groups.ts";
import { useTotals } from "./use-totals.ts";
import "./runs-page.css";

export function Page() {
  const view = useRunsView();
  return view.group === "function" || view.group === "event" ? (
    <Over view={view} groups={null} />
  ) : (
    <OfGroups view={view} />
  );
}

function OfGroups({ view }: { readonly view: RunsView }) {
  const groups = useGroups(view);
  return <Over view={view} groups={groups} />;
}

/** `groups` is null where the list is of something else. */
function Over({ view, groups }: { readonly view: RunsView; readonly groups: Groups | null }) {
  const utc = useSettings().zone === "utc";
  const range = rangeWords(view, useNow(), utc);
  // Rows that could not be read bring no numbers.
  const {
    data: totals,
    error,
    refetch,
  } = useTotals(view.range, groups?.hasTotals === true && groups.list.error === null);
  const { key, event, q, show } = view.search;
  const isMatching =
    groups !== null && [view.state, view.search.by, key, event, q, groups.cel].some((each) => each !== undefined);
  const pinned = groups?.pinned ?? null;
  const isPinless = pinned === null && !isMatching && totals !== undefined && totals.slipped > 0;
  const known = useLoudGroups(view, isPinless);
  const loud = known ?? noGroups;
  // One reading for the sentence and the numbers under it: they never say two things.
  const doubled = { groups: pinned?.groups ?? loud, count: totals?.doubledKeys ?? 0, isAll: totals?.isAll ?? true };
  // "Every key ran once" is not said before it is known.
  const isKnown = (groups === null || !groups.list.isLoading) && (!isPinless || known !== undefined);
  const isNew =
    totals !== undefined && totals.asked === 0 && !view.isFiltered && groups !== null && groups.list.rows.length === 0;
  return (
    <>
      <PageTitle title="Runs" />
      {error !== null && totals === undefined ? (
        <div className="card">
          <ErrorPart error={error} what="The numbers could not be read. Runs go on." onRetry={() => void refetch()} />
        </div>
      ) : totals === undefined ? (
        <div className="over-list" aria-hidden="true" />
      ) : (
        !isNew && (
          <>
            {isKnown ? (
              <Headline
                view={view}
                totals={totals}
                range={range}
                doubled={doubled}
                rows={groups?.list.rows ?? []}
                matching={
                  isMatching ? { rows: groups.list.rows, isAll: !groups.list.hasMore, known: groups.matching } : null
                }
              />
            ) : (
              <HeadlineToCome />
            )}
            {/* They are of the time and the function: under a narrower filter they would tell of other runs than the list. */}
            {!isMatching && show !== "no-worker" && <Summary view={view} totals={totals} range={range} />}
          </>
        )
      )}
      <FilterBar
        view={view}
        totals={totals}
        range={range}
        mistake={groups?.mistake ?? null}
        countedSince={groups?.matching?.since ?? null}
      />
      {groups === null ? (
        view.group === "function" ? (
          <FunctionList view={view} />
        ) : (
          <EventList view={view} />
        )
      ) : view.group === "none" ? (
        <RunList view={view} groups={groups} />
      ) : (
        <GroupList view={view} groups={groups} totals={totals} />
      )}
    </>
  );
}
