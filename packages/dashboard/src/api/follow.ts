// Reads again when something changed, but never more of the time than a tenth: what is slow to read is read less often.
import { useCallback, useEffect, useRef } from "react";
import { useDigests, useLive } from "./live.ts";

const restShare = 10;
// A person sees no more than one change a second.
const restDefaultMs = 1_000;

/**
 * `read` must not change between renders, and resolves once the answer is there. News that comes while it reads or rests is read
 * afterwards: the last of several counts, for what changed may have changed just now.
 */
export function useFollow(read: () => Promise<unknown>, restMinMs: number = restDefaultMs): void {
  const { state } = useLive();
  const isPaused = state === "paused";
  const now = useRef({
    isReading: false,
    isWanted: false,
    timer: null as ReturnType<typeof setTimeout> | null,
    restUntil: 0,
    isGone: false,
  });
  const look = useCallback(() => {
    const at = now.current;
    at.isWanted = true;
    if (at.isReading || at.timer !== null) return;
    at.timer = setTimeout(
      async () => {
        at.timer = null;
        at.isWanted = false;
        at.isReading = true;
        const from = performance.now();
        try {
          await read();
        } catch {
          // A read that failed is made again with the next news.
        }
        at.isReading = false;
        at.restUntil = performance.now() + Math.max(restMinMs, (performance.now() - from) * restShare);
        if (at.isWanted && !at.isGone) look();
      },
      Math.max(0, at.restUntil - performance.now()),
    );
  }, [read, restMinMs]);
  useDigests(
    useCallback(() => {
      if (!isPaused) look();
    }, [isPaused, look]),
  );
  useEffect(() => {
    const at = now.current;
    at.isGone = false;
    return () => {
      at.isGone = true;
      if (at.timer !== null) clearTimeout(at.timer);
      at.timer = null;
    };
  }, []);
}
