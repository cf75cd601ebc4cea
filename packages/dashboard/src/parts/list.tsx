// Rows of a long list, each a link to its page. Above 100 rows only those in sight are drawn. `j` and `k` move the focus from row
// to row; scroll and focus stay where they are when rows change.
import { useWindowVirtualizer, type Virtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useEffect, useLayoutEffect, useRef, useState } from "react";
import { type KeyBinding, useKeys } from "../keys.ts";
import { Button } from "./button.tsx";
import { ErrorPart } from "./error-part.tsx";
import type { KeysetList } from "./keyset-list.ts";
import { Skeleton } from "./skeleton.tsx";
import { Time } from "./time.tsx";
import "./list.css";

interface ListProps<Row> {
  readonly list: KeysetList<Row>;
  readonly label: string;
  /** The names of the columns; hidden at 390 px, where rows are blocks. */
  readonly head: ReactNode;
  readonly idOf: (row: Row) => string;
  /** The cells. One link of class `row-link` is stretched over the row. */
  readonly row: (row: Row, index: number) => ReactNode;
  readonly rowClass?: (row: Row, index: number) => string;
  /** The name of its rows: "events". */
  readonly noun: string;
  readonly empty: ReactNode;
  /** A row's height in pixels before it is measured. */
  readonly height?: (row: Row) => number;
  /** Stands over rows and is none: `j` and `k` pass over it. */
  readonly isHeading?: (row: Row) => boolean;
  /** Rows can be ticked, to do something to many at once. */
  readonly picks?: RowPicks<Row> | undefined;
  /** Letter keys of this list beside `j` and `k`. */
  readonly keys?: (focus: RowFocus) => readonly KeyBinding[];
  /** Beside the rows: what jumps to one of them. */
  readonly beside?: (focus: RowFocus) => ReactNode;
}

export interface RowPicks<Row> {
  readonly isPicked: (row: Row) => boolean;
  /** The name of a row's box: "Select orderId 7". */
  readonly label: (row: Row) => string;
  /** `isRange`: and all between this row and the one before it that was ticked. */
  readonly toggle: (index: number, isRange: boolean) => void;
}

/** The focus among the rows, and moving it. */
export interface RowFocus {
  /** -1 when it is elsewhere. */
  readonly here: () => number;
  readonly to: (index: number) => void;
}

const drawnAll = 100;
const rowPx = 34;

export function List<Row>(props: ListProps<Row>) {
  const { list, label, head, noun, empty } = props;
  const { rows } = list;
  return (
    <section
      className={`list card${list.isOld ? " is-old" : ""}${props.picks === undefined ? "" : " has-picks"}`}
      aria-label={label}
      aria-busy={list.isOld || list.isLoading}
      onPointerEnter={() => list.setBusy(true)}
      onPointerLeave={() => list.setBusy(false)}
      onFocus={() => list.setBusy(true)}
      onBlur={({ currentTarget, relatedTarget }) => {
        if (!currentTarget.contains(relatedTarget)) list.setBusy(false);
      }}
    >
      <div className="head" aria-hidden="true">
        {head}
      </div>
      {list.heldCount > 0 && (
        <button
          type="button"
          className="held"
          onClick={() => {
            list.showHeld();
            window.scrollTo({ top: 0 });
          }}
        >
          {list.heldCount} new {list.heldCount === 1 ? noun.replace(/s$/, "") : noun}
        </button>
      )}
      {list.error !== null && rows.length === 0 ? (
        <ErrorPart error={list.error} what={`The ${noun} could not be read. Runs go on.`} onRetry={list.retry} />
      ) : list.isLoading ? (
        <Skeleton />
      ) : rows.length === 0 && !list.hasMore ? (
        empty
      ) : (
        <Rows {...props} />
      )}
      <More list={list} />
    </section>
  );
}

function Rows<Row>({ list, idOf, row, rowClass, height, isHeading, picks, keys, beside }: ListProps<Row>) {
  const { rows } = list;
  const ref = useRef<HTMLUListElement>(null);
  const [top, setTop] = useState(0);
  // The list's top on the page: numbers and filters stand over it and change their height.
  useLayoutEffect(() => {
    const measure = () => setTop((ref.current?.getBoundingClientRect().top ?? 0) + window.scrollY);
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(document.body);
    return () => observer.disconnect();
  }, []);
  const isVirtual = rows.length > drawnAll;
  const virtual = useWindowVirtualizer({
    count: isVirtual ? rows.length : 0,
    estimateSize: (index) => height?.(rows[index]!) ?? rowPx,
    getItemKey: (index) => idOf(rows[index]!),
    overscan: 12,
    scrollMargin: top,
    paddingStart: list.rowsAbove * rowPx,
  });
  useAbove(list, idOf, virtual, top);
  const focusRow = (index: number) => {
    const link = () => ref.current?.querySelector<HTMLElement>(`[data-index="${index}"] .row-link`);
    if (isVirtual) virtual.scrollToIndex(index, { align: "auto" });
    // A row out of sight is drawn in the next frame.
    if (link() != null) link()!.focus();
    else requestAnimationFrame(() => requestAnimationFrame(() => link()?.focus()));
  };
  const here = (): number => {
    const focused = document.activeElement?.closest<HTMLElement>("[data-index]");
    return focused != null && ref.current?.contains(focused) === true ? Number(focused.dataset.index) : -1;
  };
  const move = (by: number) => {
    const [from, step] = here() === -1 ? [0, 1] : [here() + by, by];
    let index = from;
    while (rows[index] !== undefined && isHeading?.(rows[index]!) === true) index += step;
    if (rows[index] !== undefined) focusRow(index);
  };
  const focus: RowFocus = { here, to: focusRow };
  useKeys([
    { keys: "j", words: "Next row", run: () => move(1) },
    { keys: "k", words: "Previous row", run: () => move(-1) },
    ...(picks === undefined
      ? []
      : [{ keys: "x", words: "Select the row", run: () => here() !== -1 && picks.toggle(here(), false) }]),
    ...(keys?.(focus) ?? []),
  ]);
  const one = (index: number, place: { readonly top: number } | null) => {
    const each = rows[index]!;
    const isPickable = picks !== undefined && isHeading?.(each) !== true;
    const isPicked = isPickable && picks.isPicked(each);
    return (
      <li
        key={idOf(each)}
        data-index={index}
        ref={place === null ? null : virtual.measureElement}
        className={`${isHeading?.(each) === true ? "heading" : "row"} ${rowClass?.(each, index) ?? ""}${isPicked ? " is-picked" : ""}`}
        style={place === null ? {} : { transform: `translateY(${place.top}px)` }}
        {...(place === null
          ? {}
          : {
              "aria-setsize": list.hasMore ? -1 : list.rowsAbove + rows.length,
              "aria-posinset": list.rowsAbove + index + 1,
            })}
      >
        {isPickable && (
          <label className="pick">
            <input
              type="checkbox"
              checked={isPicked}
              aria-label={picks.label(each)}
              // The click knows of Shift; the change does not.
              onClick={(event) => picks.toggle(index, event.shiftKey)}
              onChange={() => {}}
            />
          </label>
        )}
        {row(each, index)}
      </li>
    );
  };
  return (
    <>
      {isVirtual ? (
        <ul ref={ref} className="is-virtual" style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map(({ index, start }) => one(index, { top: start - top }))}
        </ul>
      ) : (
        <ul ref={ref}>{rows.map((_, index) => one(index, null))}</ul>
      )}
      {beside?.(focus)}
    </>
  );
}

// So many rows before the first one, the page over it is asked for; from further away the list begins anew.
const aheadRows = 30;
const leapRows = 200;

/** Pages that were let go come back from above, and nothing moves under the eyes when they do or when others go. */
function useAbove<Row>(
  list: KeysetList<Row>,
  idOf: (row: Row) => string,
  virtual: Virtualizer<Window, Element>,
  top: number,
): void {
  const anchor = useRef<{ readonly first: string; readonly id: string; readonly start: number } | null>(null);
  const { rows, rowsAbove, loadAbove, toTop } = list;
  const first = rows[0] === undefined ? "" : idOf(rows[0]);
  useLayoutEffect(() => {
    const before = anchor.current;
    if (before !== null && before.first !== first) {
      const index = rows.findIndex((row) => idOf(row) === before.id);
      const start = virtual.measurementsCache[index]?.start;
      if (start !== undefined && start !== before.start) window.scrollBy({ top: start - before.start });
    }
    // As the last scroll event said: asking the window here would lay out the page once more in every frame, a fifth of its time.
    const at = virtual.scrollOffset ?? 0;
    const seen = virtual.getVirtualItems().find(({ end }) => end > at);
    const row = seen === undefined ? undefined : rows[seen.index];
    anchor.current = row === undefined || at < top ? null : { first, id: idOf(row), start: seen!.start };
  });
  const startIndex = virtual.range?.startIndex ?? 0;
  useEffect(() => {
    if (rowsAbove === 0 || startIndex > aheadRows) return;
    const gapPx = top + rowsAbove * rowPx - (window.scrollY + window.innerHeight);
    if (gapPx < leapRows * rowPx) void loadAbove();
    else {
      anchor.current = null;
      toTop();
    }
  });
}

// Half a screen before the end is soon enough for the next page to be there.
const aheadPx = "600px";

function More<Row>({ list }: { readonly list: KeysetList<Row> }) {
  const ref = useRef<HTMLDivElement>(null);
  const { hasMore, loadMore, isLoadingMore, error, lookedBackTo } = list;
  useEffect(() => {
    if (!hasMore || ref.current === null || isLoadingMore || lookedBackTo !== null) return;
    const observer = new IntersectionObserver(
      // A busy page gets the looks of several frames at once; the last one counts.
      (seen) => seen.at(-1)?.isIntersecting === true && error === null && loadMore(),
      { rootMargin: aheadPx },
    );
    observer.observe(ref.current);
    return () => observer.disconnect();
  }, [hasMore, loadMore, isLoadingMore, error, lookedBackTo]);
  if (!hasMore || list.isLoading) return null;
  return (
    <div ref={ref} className="more-rows">
      {lookedBackTo !== null && (
        <span role="status">
          {list.rows.length === 0 ? "None so far. " : ""}Looked back to <Time at={lookedBackTo} as="minute" />.
        </span>
      )}
      <Button look="link" small onClick={loadMore} disabled={isLoadingMore}>
        {lookedBackTo === null
          ? isLoadingMore
            ? "Loading older ones"
            : "Show older ones"
          : isLoadingMore
            ? "Looking further back"
            : "Look further back"}
      </Button>
    </div>
  );
}
