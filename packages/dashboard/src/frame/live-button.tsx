import { type LiveNow, live, useLive } from "../api/live.ts";
import { useKeys } from "../keys.ts";
import { clockOf } from "../parts/time-words.ts";
import { useSettings } from "../settings.ts";

/** Says whether the page moves by itself, and stops it when it is clicked. */
export function LiveButton() {
  const now = useLive();
  const utc = useSettings().zone === "utc";
  useKeys([{ keys: "p", words: "Pause, or go on", run: () => live.toggle() }]);
  return (
    <button
      type="button"
      className={`live-button is-${now.state}`}
      aria-pressed={now.state !== "paused"}
      title={now.state === "paused" ? "Go on showing what happens" : "Hold the page still"}
      onClick={() => live.toggle()}
    >
      <span className="dot" aria-hidden="true" />
      <span role="status">{wordsOf(now, utc)}</span>
    </button>
  );
}

function wordsOf({ state, asOf }: LiveNow, utc: boolean): string {
  switch (state) {
    case "connecting":
      return "Connecting";
    case "live":
      return "Live";
    case "paused":
      return "Paused";
    case "reconnecting":
      return `Reconnecting, as of ${clockOf(asOf, { utc, millis: false })}`;
    case "offline":
      return "Offline";
  }
}
