// Of many rows only those in sight are drawn; what is above and below them is an empty stretch of the same height. Up to a hundred are
// all drawn: nothing is gained by less.
import { defaultRangeExtractor, useWindowVirtualizer } from "@tanstack/react-virtual";
import { type RefObject, useLayoutEffect, useRef, useState } from "react";

const drawnAll = 100;

export interface VirtualRows<E extends HTMLElement> {
  /** On the element whose children the rows are. */
  readonly ref: RefObject<E | null>;
  readonly indexes: readonly number[];
  readonly beforePx: number;
  readonly afterPx: number;
  /** The first and the last that can be seen; null before anything is measured. */
  readonly seen: { readonly first: number; readonly last: number } | null;
  /** On each row, which carries its place as `data-index`. */
  readonly measure: (row: HTMLElement | null) => void;
  readonly scrollTo: (index: number) => void;
}

interface RowsToDraw {
  readonly count: number;
  readonly keyOf: (index: number) => string;
  readonly heightOf: (index: number) => number;
  /** The height of what stays over the rows while they scroll. */
  readonly stuckPx: number;
}

export function useVirtualRows<E extends HTMLElement>({ count, keyOf, heightOf, stuckPx }: RowsToDraw): VirtualRows<E> {
  const ref = useRef<E>(null);
  const [top, setTop] = useState(0);
  // Notes, payloads and facts stand over the rows and change their height.
  useLayoutEffect(() => {
    const measure = () => setTop((ref.current?.getBoundingClientRect().top ?? 0) + window.scrollY);
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(document.body);
    return () => observer.disconnect();
  }, []);
  const isVirtual = count > drawnAll;
  const virtual = useWindowVirtualizer({
    count,
    estimateSize: heightOf,
    getItemKey: keyOf,
    overscan: 10,
    scrollMargin: top,
    scrollPaddingStart: stuckPx,
    scrollPaddingEnd: 24,
    rangeExtractor: (range) =>
      isVirtual ? defaultRangeExtractor(range) : Array.from({ length: range.count }, (_, index) => index),
  });
  const items = virtual.getVirtualItems();
  const { range } = virtual;
  return {
    ref,
    indexes: items.map(({ index }) => index),
    beforePx: isVirtual && items.length > 0 ? items[0]!.start - top : 0,
    afterPx: isVirtual && items.length > 0 ? virtual.getTotalSize() + top - items.at(-1)!.end : 0,
    seen: range === null ? null : { first: range.startIndex, last: range.endIndex },
    measure: virtual.measureElement,
    scrollTo: (index) => virtual.scrollToIndex(index, { align: "center" }),
  };
}
