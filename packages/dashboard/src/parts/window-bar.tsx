// A key's window: a bar that drains, and the same in words.
import { useNow } from "./now.ts";
import { agoWords, lengthWords } from "./time-words.ts";
import "./window-bar.css";

export type Window =
  | { readonly kind: "timed"; readonly startsAt: number; readonly endsAt: number }
  | { readonly kind: "forever" | "until-finished" | "none" };

// Windows of a hundred years are kept for ever; nobody reads "876,000 h left".
const foreverMs = 50 * 365 * 24 * 3_600_000;

export const windowOf = (startsAt: number, endsAt: number | null): Window =>
  endsAt === null
    ? { kind: "none" }
    : endsAt - startsAt > foreverMs
      ? { kind: "forever" }
      : { kind: "timed", startsAt, endsAt };

const words = { forever: "kept forever", "until-finished": "until it finishes", none: "no key" } as const;

export function WindowBar({ window, released = false }: { readonly window: Window; readonly released?: boolean }) {
  const now = useNow(window.kind === "timed" ? window.endsAt : null);
  if (released) return <Drawn share={0} words="released" kind="ended" />;
  if (window.kind !== "timed")
    return <Drawn share={window.kind === "none" ? 0 : 1} words={words[window.kind]} kind={window.kind} />;
  const left = window.endsAt - now;
  if (left <= 0) return <Drawn share={0} words={`ended ${agoWords(window.endsAt, now)}`} kind="ended" />;
  return (
    <Drawn
      share={left / Math.max(1, window.endsAt - window.startsAt)}
      words={`${lengthWords(left < 60_000 ? Math.ceil(left / 1000) * 1000 : left)} left`}
      kind="timed"
    />
  );
}

function Drawn({ share, words, kind }: { readonly share: number; readonly words: string; readonly kind: string }) {
  return (
    <span className={`window-bar is-${kind}`}>
      <span className="track" aria-hidden="true">
        <span style={{ width: `${Math.min(1, share) * 100}%` }} />
      </span>
      <span className="words">{words}</span>
    </span>
  );
}
