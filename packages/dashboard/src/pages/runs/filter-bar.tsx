// Groups, orders and narrows the list. All of it stands in the address.
import { useQuery } from "@tanstack/react-query";
import { ask } from "../../api/client.ts";
import { useKeys } from "../../keys.ts";
import { Button } from "../../parts/button.tsx";
import { type Choice, FilterSelect, Filters, Segments } from "../../parts/field.tsx";
import { Icon } from "../../parts/icon.tsx";
import { SavedViews } from "../../parts/saved-views.tsx";
import { ShareLink } from "../../parts/share-link.tsx";
import { visibleText } from "../../parts/visible-text.ts";
import { pinnedTimes } from "./bulk/bulk-filter.ts";
import { ColumnsMenu } from "./columns-menu.tsx";
import { ExpressionField } from "./expression-field.tsx";
import type { TotalsAnswer } from "./groups-data.ts";
import { orderWords } from "./run-columns.ts";
import { type Group, type RunsSearch, type RunsView, sinceUnlessTold, timeChoices } from "./runs-view.ts";

const groupings: readonly (Choice & { readonly value: Group })[] = [
  { value: "key", text: "Key" },
  { value: "function", text: "Function" },
  { value: "event", text: "Event" },
  { value: "none", text: "None" },
];

const states: readonly Choice[] = [
  { value: "", text: "all" },
  ...["queued", "running", "waiting", "parked", "completed", "failed", "cancelled"].map((value) => ({
    value,
    text: value,
  })),
];

const orders: readonly Choice[] = [
  { value: "", text: "doubled first" },
  { value: "newest", text: "newest first" },
];
const runOrders: readonly Choice[] = [
  { value: "", text: "newest first" },
  ...Object.entries(orderWords).map(([value, text]) => ({ value, text })),
];

interface FilterBarProps {
  readonly view: RunsView;
  readonly totals: TotalsAnswer | undefined;
  /** The time's name when it is none of the choices. */
  readonly range: string;
  readonly mistake: string | null;
  /** The beginning of the list's numbers, by when runs ended; null where they are of no such time. */
  readonly countedSince: number | null;
}

export function FilterBar({ view, totals, range, mistake, countedSince }: FilterBarProps) {
  const { search, group, order, since, change } = view;
  useKeys([
    ...groupings.map(({ value, text }, i) => ({
      keys: `${i + 1}`,
      words: `Group by ${text.toLowerCase()}`,
      run: () => change({ group: value === "key" ? undefined : value, open: undefined }),
    })),
    { keys: "f", words: "Filter", run: () => document.getElementById("runs-filter")?.focus() },
  ]);
  const isAnyTime = view.times.since === undefined && view.times.endedSince === undefined;
  const time = search.until !== undefined ? "chosen" : isAnyTime || since === sinceUnlessTold ? "" : since;
  const usual = timeChoices.map(({ value, text }) => ({
    value: value === sinceUnlessTold ? "" : value,
    text: isAnyTime && value === sinceUnlessTold ? "any" : text,
  }));
  const times = usual.some(({ value }) => value === time) ? usual : [{ value: time, text: range }, ...usual];
  return (
    <div className="filter-bar">
      <Filters>
        <Segments
          label="Group by"
          value={group}
          choices={groupings}
          onChange={(value) => change({ group: value === "key" ? undefined : (value as Group), open: undefined })}
        />
        <FilterSelect
          label="Function"
          value={search.fn ?? ""}
          choices={useFunctionChoices(totals)}
          onChange={(value) => change({ fn: value || undefined, key: undefined })}
        />
        {(group === "key" || group === "none") && (
          <FilterSelect
            label="State"
            value={view.state ?? ""}
            choices={states}
            onChange={(value) =>
              change({
                state: (value || undefined) as RunsSearch["state"],
                ...(search.show === "failed" ? { show: undefined } : {}),
              })
            }
          />
        )}
        <FilterSelect
          label="Time"
          value={time}
          choices={times}
          onChange={(value) => value !== "chosen" && change({ since: value || undefined, until: undefined })}
        />
        {(group === "key" || group === "none") && (
          <FilterSelect
            label="Order"
            value={order === (group === "key" ? "attention" : "newest") ? "" : order}
            choices={group === "key" ? orders : runOrders}
            onChange={(value) => change({ order: (value || undefined) as RunsSearch["order"] })}
          />
        )}
        <Chosen name="Key" value={search.key} onClear={() => change({ key: undefined })} />
        <Chosen name="Event" value={search.event} onClear={() => change({ event: undefined })} />
        <Chosen
          name="Time"
          value={search.by === undefined ? undefined : "is when they ended"}
          onClear={() => change({ by: undefined })}
        />
        <Chosen
          name="Only"
          value={search.show === undefined || search.show === "failed" ? undefined : shownWords[search.show]}
          onClear={() => change({ show: undefined })}
        />
        {(group === "key" || group === "none") && (
          <ExpressionField
            fieldId="runs-filter"
            q={search.q}
            cel={search.cel}
            mistake={mistake}
            onChange={(q, cel) => change({ q, cel }, { replace: true })}
          />
        )}
      </Filters>
      <div className="list-tools">
        {group === "none" && <ColumnsMenu view={view} />}
        <SavedViews page="runs" />
        <ShareLink times={(now) => pinnedTimes(view, countedSince, now)} />
      </div>
      {mistake !== null && (
        <p className="mistake failed" id="runs-filter-mistake" role="alert">
          {visibleText(mistake)}
        </p>
      )}
    </div>
  );
}

const shownWords = {
  doubled: "ran more than once",
  suppressed: "with duplicates",
  "no-worker": "without a worker",
} as const;

/** A filter that came with a link; it can only be taken away. */
function Chosen({
  name,
  value,
  onClear,
}: {
  readonly name: string;
  readonly value: string | undefined;
  readonly onClear: () => void;
}) {
  if (value === undefined) return null;
  return (
    <span className="filter is-set chosen">
      <span>{name}</span>
      <b className="cut">
        <bdi>{visibleText(value)}</bdi>
      </b>
      <Button look="link" small aria-label={`Take away the filter ${name.toLowerCase()} ${value}`} onClick={onClear}>
        <Icon name="cross" size={12} />
      </Button>
    </span>
  );
}

function useFunctionChoices(totals: TotalsAnswer | undefined): readonly Choice[] {
  const { data } = useQuery({
    queryKey: ["function-names"],
    queryFn: async ({ signal }) => (await ask("GET /api/functions", { signal })).functions.map((each) => each.function),
    staleTime: 60_000,
  });
  const names = new Set([...(data ?? []), ...(totals?.functions.map((each) => each.function) ?? [])]);
  return [{ value: "", text: "all" }, ...[...names].sort().map((name) => ({ value: name, text: name }))];
}
