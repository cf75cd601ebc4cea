// A long list as pages of a keyset: older rows are added at the end, newer ones are held back while somebody reads. Rows on screen
// change in place.
import {
  type InfiniteData,
  keepPreviousData,
  type QueryKey,
  useInfiniteQuery,
  useQuery,
  useQueryClient,
} from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useState } from "react";
import { useFollow } from "../api/follow.ts";

export interface KeysetPage<Row> {
  readonly rows: readonly Row[];
  /** Null when nothing older is left; a page can be short, even empty, with more behind it. */
  readonly next: string | null;
}

interface KeysetOptions<Row> {
  /** What is listed and how it is filtered. */
  readonly key: QueryKey;
  readonly fetchPage: (before: string | undefined, signal: AbortSignal) => Promise<KeysetPage<Row>>;
  readonly idOf: (row: Row) => string;
  /** False for lists that are not in order of time: they are only asked again as a whole. */
  readonly isNewestFirst?: boolean;
}

export interface KeysetList<Row> {
  readonly rows: readonly Row[];
  /** How many newer rows wait to be shown. */
  readonly heldCount: number;
  readonly showHeld: () => void;
  readonly isLoading: boolean;
  /** The rows are those of the filter before; the new ones are on their way. */
  readonly isOld: boolean;
  readonly error: unknown;
  readonly retry: () => void;
  readonly hasMore: boolean;
  readonly loadMore: () => void;
  readonly isLoadingMore: boolean;
  /** Given to the list's element: while pointer or focus is in it, or it is scrolled, nothing moves. */
  readonly setBusy: (isBusy: boolean) => void;
}

// Scrolled by less, the top of the list is still what is read.
const scrolledPx = 120;

export function useKeysetList<Row>({
  key,
  fetchPage,
  idOf,
  isNewestFirst = true,
}: KeysetOptions<Row>): KeysetList<Row> {
  const pages = useInfiniteQuery({
    queryKey: [...key, "pages"],
    queryFn: ({ pageParam, signal }) => fetchPage(pageParam, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }) => next ?? undefined,
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnMount: "always",
  });
  // The newest page by itself: asking again for every page that was scrolled past would be hundreds of rows per digest.
  const newest = useQuery({
    queryKey: [...key, "newest"],
    queryFn: ({ signal }) => fetchPage(undefined, signal),
    enabled: isNewestFirst && pages.isSuccess,
  });
  const { refetch: askPages, hasNextPage, isFetchingNextPage, fetchNextPage } = pages;
  const { refetch: askNewest } = newest;
  useFollow(
    useCallback(
      () => (isNewestFirst ? askNewest({ cancelRefetch: false }) : askPages({ cancelRefetch: false })),
      [askNewest, askPages, isNewestFirst],
    ),
  );

  const listed = useMemo(() => pages.data?.pages.flatMap((page) => page.rows) ?? [], [pages.data]);
  const fresh = pages.isPlaceholderData ? undefined : newest.data;
  const { updated, held } = useMemo(() => merge(listed, fresh?.rows ?? [], idOf), [listed, fresh, idOf]);
  const [isBusy, setBusy] = useState(false);
  const queries = useQueryClient();
  // The newest page takes the place of all: whoever sees new rows stands at the top, and between the newest and those that were
  // listed there may be more than a page.
  const showHeld = useCallback(() => {
    if (fresh !== undefined)
      queries.setQueryData<InfiniteData<KeysetPage<Row>, string | undefined>>([...key, "pages"], {
        pages: [fresh],
        pageParams: [undefined],
      });
  }, [queries, key, fresh]);
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
    loadMore: useCallback(() => {
      if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
    }, [hasNextPage, isFetchingNextPage, fetchNextPage]),
    isLoadingMore: isFetchingNextPage,
    setBusy,
  };
}

/** One pass over what is listed, which can be 100,000 rows; what did not change stays the same object. */
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
