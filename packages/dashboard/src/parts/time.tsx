// An instant, in the zone the person reads in; hovering gives it in UTC. The page names the zone once, in its foot.
import { useSettings } from "../settings.ts";
import { useNow } from "./now.ts";
import { agoWords, clockOf, durationWords, instantOf, minuteOf, shortInstantOf } from "./time-words.ts";

interface TimeProps {
  readonly at: number;
  /** `row`: to the millisecond; `list`: the same, but date and minute when it was not today; `ago`: in a sentence; `full`: with its date unless it is today; `minute`: the same to the minute. */
  readonly as?: "row" | "list" | "ago" | "full" | "minute";
}

export function Time({ at, as = "full" }: TimeProps) {
  const utc = useSettings().zone === "utc";
  const now = useNow(as === "ago" ? at : null);
  const date = new Date(at);
  const isInstant = !Number.isNaN(date.getTime());
  if (!isInstant) return <span className="faint">no time</span>;
  const text =
    as === "ago"
      ? agoWords(at, now)
      : as === "row"
        ? clockOf(at, { utc })
        : as === "list"
          ? shortInstantOf(at, now, utc)
          : as === "minute"
            ? minuteOf(at, now, utc)
            : instantOf(at, now, { utc });
  return (
    <time
      className={as === "ago" || as === "minute" ? "nowrap" : "mono nowrap"}
      dateTime={date.toISOString()}
      title={date.toISOString().replace("T", " ").replace("Z", " UTC")}
    >
      {text}
    </time>
  );
}

export const Duration = ({ ms }: { readonly ms: number }) => <span className="nowrap">{durationWords(ms)}</span>;
