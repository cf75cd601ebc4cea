// A step's input: the arguments of its callback, or the request of another tool. A callback without arguments reads the variables around
// it: the run's event and the outcomes before it.
import { Link } from "@tanstack/react-router";
import { StoredPayload } from "../../parts/payload.tsx";
import { visibleText } from "../../parts/visible-text.ts";
import { dataPath } from "../events/event-story.ts";
import { inputWords } from "./input-words.ts";
import type { EventDetail, RunAnswer, TimelineEntry } from "./run-data.ts";
import { inputPath, stepInputPath } from "./run-queries.ts";

export function StepInput({ answer, entry }: { readonly answer: RunAnswer; readonly entry: TimelineEntry }) {
  const { events, run } = answer;
  const { input } = entry;
  // A run's input is not always its event's data.
  const pathOf = ({ internalId }: EventDetail) => (events.length === 1 ? inputPath(run.id) : dataPath(internalId));
  const isKept = input !== null && input.lost === null;
  return (
    <>
      <p className="quiet">{visibleText(inputWords(entry))}</p>
      {isKept && (
        <StoredPayload
          path={stepInputPath(run.id, entry.stepId)}
          bytes={input.bytes}
          name={`input-${entry.name}-${run.id}`}
        />
      )}
      {events.slice(0, eventsShown).map((event) => (
        <TheEvent key={event.internalId} event={event} path={pathOf(event)} isWhole={input === null} />
      ))}
      {events.length > eventsShown && <p className="quiet">And {events.length - eventsShown} more of its batch.</p>}
    </>
  );
}

/** As a link beside what the step was given; whole where that was nothing. */
function TheEvent({
  event,
  path,
  isWhole,
}: {
  readonly event: EventDetail;
  readonly path: string;
  readonly isWhole: boolean;
}) {
  return (
    <div className="stack">
      <h3>
        The run's event,{" "}
        <Link className="mono" to="/events/$event" params={{ event: event.internalId }}>
          {visibleText(event.name)}
        </Link>
      </h3>
      {isWhole && <StoredPayload path={path} bytes={event.dataBytes} name={`event-${event.internalId}`} />}
    </div>
  );
}

// A batch may have a hundred; each of their pages shows the rest.
const eventsShown = 3;
