// A long list as pages of a keyset: older rows are added at the end, newer ones are held back while a person reads. Rows on screen
// change in place. However far one scrolls, a bounded number of pages is kept: pages scrolled past are read again on the way back.
import {
  type InfiniteData,
  keepPreviousData,
  type QueryKey,
  useInfiniteQuery,
  useQuery,
  useQueryClient,
} from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { useFollow } from "../api/follow.ts";

export interface KeysetPage<Row> {
  readonly rows: readonly Row[];
  /** Null when nothing older is left; a page can be short, even empty, with more behind it. */
  readonly next: string | null;
  /** Where it ends because only so many may be looked at: back to when they were. Null, or not there, where it ends for another reason. */
  readonly lookedBackTo?: number | null;
}

interface KeysetOptions<Row> {
  /** Names the list and its filters. */
  readonly key: QueryKey;
  readonly fetchPage: (before: string | undefined, signal: AbortSignal) => Promise<KeysetPage<Row>>;
  readonly idOf: (row: Row) => string;
  /** False for lists that are not in order of time: they are only asked again as a whole. */
  readonly isNewestFirst?: boolean;
}

export interface KeysetList<Row> {
  readonly rows: readonly Row[];
  /** Newer rows that wait to be shown. */
  readonly heldCount: number;
  readonly showHeld: () => void;
  readonly isLoading: boolean;
  /** The rows are those of the filter before; the new ones are on their way. */
  readonly isOld: boolean;
  readonly error: unknown;
  readonly retry: () => void;
  readonly hasMore: boolean;
  /** The list ends where looking did, back to this instant: a person says whether to go on. */
  readonly lookedBackTo: number | null;
  readonly loadMore: () => void;
  readonly isLoadingMore: boolean;
  /** Rows over the first one that were scrolled past and let go. */
  readonly rowsAbove: number;
  /** Reads the page over the first row again. */
  readonly loadAbove: () => Promise<void>;
  /** Begins anew at the top. */
  readonly toTop: () => void;
  /** Given to the list's element: while pointer or focus is in it, or it is scrolled, nothing moves. */
  readonly setBusy: (isBusy: boolean) => void;
}

// 3,000 rows, some 5 MB. With fewer, scrolling up and down a little would read them again.
const pagesKept = 30;

/** A page's place: it knows the one over it, so that the way back needs no other memory. */
interface Place<Row> {
  readonly before: string | undefined;
  readonly over: Place<Row> | null;
  readonly rowsAbove: number;
  /** Of the newest page: what it held when it was listed. Asked again it would hold newer rows, and miss some under them. */
  listed: KeysetPage<Row> | null;
}

// Scrolled by less, the top of the list is still what is read.
const scrolledPx = 120;

export function useKeysetList<Row>({
  key,
  fetchPage,
  idOf,
  isNewestFirst = true,
}: KeysetOptions<Row>): KeysetList<Row> {
  const isGoingUp = useRef(false);
  const pages = useInfiniteQuery<
    KeysetPage<Row>,
    Error,
    InfiniteData<KeysetPage<Row>, Place<Row>>,
    QueryKey,
    Place<Row>
  >({
    queryKey: [...key, "pages"],
    queryFn: async ({ pageParam: place, signal }) => {
      if (isGoingUp.current && place.over === null && place.listed !== null) return place.listed;
      const page = await fetchPage(place.before, signal);
      if (place.over === null) place.listed = page;
      return page;
    },
    initialPageParam: newestPlace<Row>(),
    getNextPageParam: ({ next, rows }, _, place): Place<Row> | undefined =>
      next === null ? undefined : { before: next, over: place, rowsAbove: place.rowsAbove + rows.length, listed: null },
    getPreviousPageParam: (_, __, { over }) => over ?? undefined,
    maxPages: pagesKept,
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnMount: "always",
    // The places of pages are a chain of objects; equal ones are not the same.
    structuralSharing: false,
  });
  // The newest page by itself: asking again for every page that was scrolled past would be hundreds of rows per digest.
  const newest = useQuery({
    queryKey: [...key, "newest"],
    queryFn: ({ signal }) => fetchPage(undefined, signal),
    enabled: isNewestFirst && pages.isSuccess,
  });
  const { refetch: askPages, hasNextPage, isFetchingNextPage, fetchNextPage, fetchPreviousPage } = pages;
  const { refetch: askNewest } = newest;
  useFollow(
    useCallback(
      () => (isNewestFirst ? askNewest() : askPages({ cancelRefetch: false })),
      [askNewest, askPages, isNewestFirst],
    ),
  );

  const listed = useMemo(() => once(pages.data?.pages.flatMap((page) => page.rows) ?? [], idOf), [pages.data, idOf]);
  const fresh = pages.isPlaceholderData ? undefined : newest.data;
  const top = pages.data?.pageParams[0];
  const rowsAbove = top?.rowsAbove ?? 0;
  const { updated, held } = useMemo(() => {
    const newer = fresh?.rows ?? [];
    const merged = merge(listed, newer, idOf);
    const newestListed = top === undefined || top.over === null ? null : newestOf(top).listed;
    return newestListed === null ? merged : { ...merged, held: merge(newestListed.rows, newer, idOf).held };
  }, [listed, fresh, idOf, top]);
  const [isBusy, setBusy] = useState(false);
  const queries = useQueryClient();
  // The newest page takes the place of all: a reader of new rows stands at the top, and between the newest and those that were
  // listed there may be more than a page.
  const showHeld = useCallback(() => {
    const newestPage = fresh ?? (top === undefined ? null : newestOf(top).listed);
    if (newestPage !== null)
      queries.setQueryData<InfiniteData<KeysetPage<Row>, Place<Row>>>([...key, "pages"], {
        pages: [newestPage],
        pageParams: [{ ...newestPlace<Row>(), listed: newestPage }],
      });
  }, [queries, key, fresh, top]);
  useEffect(() => {
    if (held.length > 0 && !isBusy && window.scrollY < scrolledPx) showHeld();
  }, [held, isBusy, showHeld]);
  return {
    rows: updated,
    heldCount: held.length,
    showHeld,
    isLoading: pages.isPending,
    isOld: pages.isPlaceholderData,
    error: pages.error,
    retry: useCallback(() => void askPages(), [askPages]),
    hasMore: hasNextPage,
    lookedBackTo: pages.data?.pages.at(-1)?.lookedBackTo ?? null,
    loadMore: useCallback(() => {
      if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
    }, [hasNextPage, isFetchingNextPage, fetchNextPage]),
    isLoadingMore: isFetchingNextPage,
    rowsAbove,
    loadAbove: useCallback(async () => {
      if (rowsAbove === 0 || isGoingUp.current) return;
      isGoingUp.current = true;
      await fetchPreviousPage().finally(() => {
        isGoingUp.current = false;
      });
    }, [rowsAbove, fetchPreviousPage]),
    toTop: showHeld,
    setBusy,
  };
}

const newestPlace = <Row>(): Place<Row> => ({ before: undefined, over: null, rowsAbove: 0, listed: null });

function newestOf<Row>(place: Place<Row>): Place<Row> {
  let newest = place;
  while (newest.over !== null) newest = newest.over;
  return newest;
}

/** Pages are read at different times: a row that moved meanwhile may stand on two, and two rows of one name would never leave the page. */
function once<Row>(rows: readonly Row[], idOf: (row: Row) => string): readonly Row[] {
  const ids = new Set<string>();
  return rows.filter((row) => {
    const id = idOf(row);
    return !ids.has(id) && ids.add(id);
  });
}

/** One pass over what is listed; what did not change stays the same object. */
function merge<Row>(listed: readonly Row[], newest: readonly Row[], idOf: (row: Row) => string) {
  if (newest.length === 0) return { updated: listed, held: [] };
  const now = new Map(newest.map((row) => [idOf(row), row]));
  const known = new Set<string>();
  const updated = listed.map((row) => {
    const id = idOf(row);
    const changed = now.get(id);
    if (changed === undefined) return row;
    known.add(id);
    return changed;
  });
  // Only those above the first known row are new; what stands between known rows was passed over by the filter before.
  const firstKnown = newest.findIndex((row) => known.has(idOf(row)));
  return { updated, held: newest.slice(0, firstKnown === -1 ? newest.length : firstKnown) };
}
