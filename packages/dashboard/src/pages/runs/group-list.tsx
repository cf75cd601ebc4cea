// Groups by key, and runs one by one: doubled ones pinned over the rest, or in their place with the ruler beside them.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { Glyph } from "../../parts/glyph.tsx";
import { List, type RowFocus } from "../../parts/list.tsx";
import { BulkBar } from "./bulk/bulk-bar.tsx";
import { usePicks } from "./bulk/use-picks.ts";
import { GroupRow } from "./group-row.tsx";
import { counted, linesShown, numberWords, timesRun } from "./group-words.ts";
import { fetchGroups, type GroupItem, type TotalsAnswer } from "./groups-data.ts";
import { NothingHere } from "./nothing-here.tsx";
import { Ruler } from "./ruler.tsx";
import { changed, type RunsView } from "./runs-view.ts";
import { useCompare } from "./use-compare.ts";
import { type Groups, noGroups, useLoudGroups } from "./use-groups.ts";

type Line =
  | { readonly kind: "group"; readonly id: string; readonly group: GroupItem }
  | { readonly kind: "opened" | "pinned" | "rest"; readonly id: string };

const idOf = ({ id }: Line): string => id;
const isHeading = ({ kind }: Line): boolean => kind !== "group";
const isLoudLine = (line: Line): boolean => line.kind === "group" && line.group.isLoud;
const groupIn = (line: Line): GroupItem | null => (line.kind === "group" ? line.group : null);
const headingPx = 32;
const [rowPx, linePx] = [34, 22];

function heightOf(line: Line): number {
  if (line.kind !== "group") return headingPx;
  const lines = timesRun(line.group);
  return line.group.isLoud ? 10 + linePx * Math.min(lines, linesShown + 1) : rowPx;
}

interface GroupListProps {
  readonly view: RunsView;
  readonly groups: Groups;
  readonly totals: TotalsAnswer | undefined;
}

export function GroupList({ view, groups: { list, pinned, matching }, totals }: GroupListProps) {
  const { search, order, group, change } = view;
  const opened = useOpened(
    search.open,
    list.isLoading || [...list.rows, ...(pinned?.groups ?? [])].some(({ id }) => id === search.open),
  );
  const isPinned = pinned !== null && pinned.groups.length > 0;
  const lines = useMemo((): readonly Line[] => {
    const line = (each: GroupItem): Line => ({ kind: "group", id: each.id, group: each });
    const first: readonly Line[] = opened === null ? [] : [{ kind: "opened", id: "opened" }, line(opened)];
    // Far down, what stands at the top was scrolled past with the rows under it.
    if (list.rowsAbove > 0)
      return list.rows.filter(({ id, isLoud }) => !isPinned || !isLoud || id === search.open).map(line);
    if (!isPinned) return [...first, ...list.rows.map(line)];
    const above = new Set(pinned.groups.map(({ id }) => id));
    // Groups that became loud since they were listed have moved up.
    const rest = list.rows.filter(({ id, isLoud }) => !isLoud && !above.has(id));
    return [
      ...first,
      { kind: "pinned", id: "pinned" },
      ...pinned.groups.map(line),
      ...(rest.length === 0 ? [] : [{ kind: "rest" as const, id: "rest" }, ...rest.map(line)]),
    ];
  }, [list.rows, list.rowsAbove, pinned, isPinned, opened, search.open]);
  const places = useMemo(
    () => new Map(lines.flatMap((line, i) => (isLoudLine(line) ? [[line.id, i] as const] : []))),
    [lines],
  );
  const toggle = useCallback(
    (id: string) => change({ open: search.open === id ? undefined : id }),
    [change, search.open],
  );
  const hasRuler = group === "key" && order === "newest" && search.show === undefined;
  const loud = useLoudGroups(view, hasRuler) ?? noGroups;
  const { seek, isSought } = useSeek(list, lines);
  const compare = useCompare();
  const picks = usePicks(view, lines, groupIn);
  const jump = (focus: RowFocus, by: 1 | -1) => {
    const loudAt = [...places.values()];
    const here = focus.here();
    const next = by > 0 ? loudAt.find((i) => i > here) : loudAt.findLast((i) => i < here || here === -1);
    const further = loud.find(({ id }) => !places.has(id));
    if (next !== undefined) focus.to(next);
    // Further down than is loaded; or once around.
    else if (by > 0 && list.hasMore && further !== undefined) seek(further.id, focus);
    else if (loudAt.length > 0) focus.to(by > 0 ? loudAt[0]! : loudAt.at(-1)!);
  };
  /** Of the row with the focus; elsewhere of the group that is open. */
  const groupAt = (index: number): GroupItem | undefined => {
    const at = index === -1 ? lines.find(({ id }) => id === search.open) : lines[index];
    return at?.kind === "group" ? at.group : undefined;
  };
  return (
    <div className={`groups stack${hasRuler ? " has-ruler" : ""}`}>
      <BulkBar view={view} picks={picks} rowCount={list.rows.length} matchCount={matching?.count ?? null} />
      <List
        list={{ ...list, rows: lines }}
        picks={picks.rows}
        label={order === "newest" || group === "none" ? "Runs, newest first" : "Runs, doubled keys first"}
        noun="keys"
        idOf={idOf}
        isHeading={isHeading}
        height={heightOf}
        rowClass={(line) =>
          line.kind === "group"
            ? `group${line.group.isLoud ? " is-loud" : ""}${search.open === line.id ? " is-open" : ""}`
            : `is-${line.kind}`
        }
        head={
          <>
            <span className="count">Runs</span>
            <span>Key</span>
            <span>Function</span>
            <span>Who asked</span>
            <span>Run and its output</span>
            <span>Window</span>
          </>
        }
        row={(line) =>
          line.kind === "group" ? (
            <GroupRow group={line.group} isOpen={search.open === line.id} onToggle={toggle} />
          ) : line.kind === "opened" ? (
            <h2>Opened by its address</h2>
          ) : line.kind === "pinned" ? (
            <PinnedHeading count={pinned!.count} isAll={pinned!.isAll} shown={pinned!.groups.length} />
          ) : (
            <RestHeading totals={view.isNarrowed ? undefined : totals} loud={pinned!.count} />
          )
        }
        keys={(focus) => [
          { keys: "d", words: "Next doubled", run: () => jump(focus, 1) },
          { keys: "D", words: "Previous doubled", run: () => jump(focus, -1) },
          { keys: "c", words: "Compare the first two runs", run: () => compare(groupAt(focus.here())) },
          ...(search.open === undefined
            ? []
            : [{ keys: "Escape", words: "Close what is open", run: () => change({ open: undefined }) }]),
        ]}
        beside={(focus) =>
          hasRuler &&
          totals !== undefined && (
            <Ruler
              loud={loud}
              totals={totals}
              isBusy={isSought}
              placeAmong={(id) => {
                const at = places.get(id);
                return at === undefined
                  ? null
                  : at / Math.max(1, list.hasMore ? Math.max(lines.length, totals.first) : lines.length);
              }}
              onJump={(id) => {
                const at = places.get(id);
                if (at === undefined) seek(id, focus);
                else focus.to(at);
              }}
            />
          )
        }
        empty={<NothingHere view={view} />}
      />
    </div>
  );
}

/** The group that the address opens, where it is not among the rows. */
function useOpened(id: string | undefined, isListed: boolean): GroupItem | null {
  const { data } = useQuery({
    queryKey: ["group", id],
    queryFn: async ({ signal }) => (await fetchGroups({ ids: id }, signal)).groups[0] ?? null,
    enabled: id !== undefined && !isListed,
  });
  return id === undefined || isListed ? null : (data ?? null);
}

// A row 5,000 rows away is still walked to; further ones are found by the filter for time.
const seekPagesMax = 50;

/** Loads older rows until the one that is sought is among them. */
function useSeek(list: Groups["list"], lines: readonly Line[]) {
  const [sought, setSought] = useState<{ readonly id: string; readonly pages: number } | null>(null);
  const focus = useRef<RowFocus | null>(null);
  useEffect(() => {
    if (sought === null || list.isLoadingMore) return;
    const at = lines.findIndex(({ id }) => id === sought.id);
    if (at !== -1) {
      focus.current?.to(at);
      setSought(null);
    } else if (list.hasMore && sought.pages < seekPagesMax) {
      list.loadMore();
      setSought({ id: sought.id, pages: sought.pages + 1 });
    } else setSought(null);
  }, [sought, list, lines]);
  const seek = useCallback((id: string, from: RowFocus) => {
    focus.current = from;
    setSought({ id, pages: 0 });
  }, []);
  return { seek, isSought: sought !== null };
}

function PinnedHeading({
  count,
  isAll,
  shown,
}: {
  readonly count: number;
  readonly isAll: boolean;
  readonly shown: number;
}) {
  return (
    <>
      <Glyph name="doubled" size={14} />
      <h2>Ran more than once</h2>
      <span>
        {counted(count, "key")}
        {isAll ? "" : " and more"}
      </span>
      {count > shown && (
        <Link to="/runs" search={changed({ show: "doubled" })}>
          Show all {numberWords(count)}
        </Link>
      )}
    </>
  );
}

function RestHeading({ totals, loud }: { readonly totals: TotalsAnswer | undefined; readonly loud: number }) {
  const once = totals === undefined ? null : Math.max(0, totals.first - loud);
  return (
    <>
      <h2>Ran once</h2>
      {once !== null && <span>{counted(once, "key")}</span>}
      {totals !== undefined && totals.suppressed > 0 && (
        <Link className="suppressed" to="/runs" search={changed({ show: "suppressed" })}>
          <Glyph name="suppressed" />
          {counted(totals.suppressed, "duplicate")} suppressed
        </Link>
      )}
    </>
  );
}
