// One stream of news for the whole page. It says that something changed and how much, never what: lists ask again for
// themselves. Without the stream they ask every five seconds.
import { useEffect, useSyncExternalStore } from "react";
import type { LiveDigest } from "../../../idem/src/server/live/digest-shape.ts";
import { envNow, urlOf } from "./client.ts";

/** News of the server, at most twice a second. */
export type Digest = LiveDigest;

export type LiveState = "connecting" | "live" | "paused" | "reconnecting" | "offline";

export interface LiveNow {
  readonly state: LiveState;
  /** When the page was last known to be true. */
  readonly asOf: number;
}

// A stream that comes back within this is a hiccup and not worth a word like "offline".
const offlineAfterMs = 10_000;
const pollMs = 5_000;
// A server without the stream, or one that is down: asked again this often.
const retryMs = 5_000;

class Live {
  private now: LiveNow = { state: "connecting", asOf: Date.now() };
  private source: EventSource | null = null;
  private readonly watchers = new Set<() => void>();
  private readonly listeners = new Set<(digest: Digest | null) => void>();
  private isPausedByHand = false;
  private heardAt = Date.now();
  private offline: ReturnType<typeof setTimeout> | null = null;
  private retry: ReturnType<typeof setTimeout> | null = null;
  private readonly env = envNow();

  readonly subscribe = (watcher: () => void): (() => void) => {
    this.watchers.add(watcher);
    return () => this.watchers.delete(watcher);
  };
  readonly snapshot = (): LiveNow => this.now;

  start(): void {
    document.addEventListener("visibilitychange", () => this.follow());
    setInterval(() => {
      if (this.now.state === "offline" && !document.hidden) this.tell(null);
    }, pollMs);
    this.follow();
  }

  /** Null stands for "ask again": nobody said what changed. */
  listen(listener: (digest: Digest | null) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  toggle(): void {
    this.isPausedByHand = !this.isPausedByHand;
    this.follow();
  }

  private follow(): void {
    if (this.isPausedByHand || document.hidden) {
      this.close();
      // A hidden tab pauses by itself, and nobody sees the word.
      if (this.isPausedByHand) this.become("paused");
    } else if (this.source === null) this.open();
  }

  private open(): void {
    if (this.env !== envNow()) return;
    const wasAway = this.now.state !== "connecting";
    const source = new EventSource(urlOf("/api/live"));
    this.source = source;
    source.onopen = () => {
      this.clearTimers();
      this.become("live");
      if (wasAway) this.tell(null);
    };
    const hear = ({ data }: MessageEvent<string>) => {
      try {
        this.become("live");
        this.tell(JSON.parse(data) as Digest);
      } catch {
        // Not JSON: a proxy's word. The next digest counts from the same rows.
      }
    };
    source.addEventListener("digest", hear);
    source.onerror = () => this.lost(source);
  }

  private lost(source: EventSource): void {
    if (source !== this.source) return;
    if (source.readyState === EventSource.CLOSED) {
      // Refused: the browser does not try again by itself, so we do.
      this.source = null;
      this.become("offline");
      this.retry ??= setTimeout(() => {
        this.retry = null;
        if (this.source === null) this.follow();
      }, retryMs);
      return;
    }
    if (this.now.state !== "offline") this.become("reconnecting");
    this.offline ??= setTimeout(() => {
      this.offline = null;
      if (this.now.state === "reconnecting") this.become("offline");
    }, offlineAfterMs);
  }

  private close(): void {
    this.clearTimers();
    this.source?.close();
    this.source = null;
  }

  private clearTimers(): void {
    if (this.offline !== null) clearTimeout(this.offline);
    if (this.retry !== null) clearTimeout(this.retry);
    this.offline = null;
    this.retry = null;
  }

  private become(state: LiveState): void {
    if (state === "live") this.heardAt = Date.now();
    if (this.now.state === state) return;
    this.now = { state, asOf: this.heardAt };
    for (const each of this.watchers) each();
  }

  private tell(digest: Digest | null): void {
    for (const each of this.listeners) each(digest);
  }
}

export const live = new Live();

export const useLive = (): LiveNow => useSyncExternalStore(live.subscribe, live.snapshot);

/** Calls back with each digest, and with null when everything may have changed. The callback must not change between renders. */
export function useDigests(listener: (digest: Digest | null) => void): void {
  useEffect(() => live.listen(listener), [listener]);
}
