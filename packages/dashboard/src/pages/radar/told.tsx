// An alert's deliveries: to each channel, and always as an event that functions can be triggered by.
import { Link } from "@tanstack/react-router";
import { clockOf } from "../../parts/time-words.ts";
import { visibleText } from "../../parts/visible-text.ts";
import { useSettings } from "../../settings.ts";
import type { Delivery } from "./radar-data.ts";

export function Told({ at, deliveries }: { readonly at: number; readonly deliveries: readonly Delivery[] }) {
  const utc = useSettings().zone === "utc";
  const clock = (instant: number) => clockOf(instant, { utc, millis: false }).slice(0, 5);
  const sent = deliveries.filter(({ state }) => state === "sent");
  const others = deliveries.filter(({ state }) => state !== "sent");
  if (deliveries.length === 0)
    return (
      <span className="told">
        Sent as{" "}
        <Link to="/events" search={{ name: "idem/duplicate.detected" }}>
          idem/duplicate.detected
        </Link>{" "}
        at {clock(at)}
      </span>
    );
  return (
    <span className="told">
      {sent.length > 0 && (
        <span title={sent.map(({ words }) => visibleText(words)).join("\n")}>
          Sent to {sent.map(({ channel }) => visibleText(channel)).join(" and ")} at {clock(sent[0]!.at)}
        </span>
      )}
      {others.map(({ channel, state, words }) => (
        <span key={channel} className={state === "failed" ? "failed" : "waiting"} title={visibleText(words)}>
          {state === "failed" ? "Not sent to " : "Not yet sent to "}
          {visibleText(channel)}
        </span>
      ))}
    </span>
  );
}
