// What a step began with. Arguments are part of the author's code and not kept, unless a person put others in their place.
import { Link } from "@tanstack/react-router";
import { Payload, StoredPayload } from "../../parts/payload.tsx";
import { visibleText } from "../../parts/visible-text.ts";
import type { RunAnswer, TimelineEntry } from "./run-data.ts";

export function StepInput({ answer, entry }: { readonly answer: RunAnswer; readonly entry: TimelineEntry }) {
  const { events } = answer;
  return (
    <>
      {entry.input !== null ? (
        <>
          <p className="quiet">A person gave it these arguments in place of its own.</p>
          <Payload text={JSON.stringify(entry.input)} />
        </>
      ) : (
        <p className="quiet">
          It ran with the arguments its code gives it. They are not kept: on a rerun from here the code gives them
          again, or you do.
        </p>
      )}
      {events.slice(0, eventsShown).map((event) => (
        <div className="stack" key={event.internalId}>
          <h3>
            The run's event,{" "}
            <Link className="mono" to="/events/$event" params={{ event: event.internalId }}>
              {visibleText(event.name)}
            </Link>
          </h3>
          <StoredPayload
            path={`api/events/${encodeURIComponent(event.internalId)}/data`}
            bytes={event.dataBytes}
            name={`event-${event.internalId}`}
          />
        </div>
      ))}
      {events.length > eventsShown && <p className="quiet">And {events.length - eventsShown} more of its batch.</p>}
    </>
  );
}

// A batch may have a hundred; each of their pages shows the rest.
const eventsShown = 3;
