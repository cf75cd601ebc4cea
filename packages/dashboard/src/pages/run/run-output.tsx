// The run's output, or the error it ended with, and its input: before how it got there.
import { Link } from "@tanstack/react-router";
import { ActButton } from "../../parts/button.tsx";
import { StoredPayload } from "../../parts/payload.tsx";
import { sizeWords } from "../../parts/size-words.ts";
import { visibleText } from "../../parts/visible-text.ts";
import { dataPath } from "../events/event-story.ts";
import { ErrorView } from "./error-view.tsx";
import type { RunAnswer, RunDetail } from "./run-data.ts";
import { inputPath, outputPath } from "./run-queries.ts";
import "./run-output.css";

export function RunOutput({ run }: { readonly run: RunDetail }) {
  if (run.output === null && run.error === null) return null;
  return (
    <section className="card run-output" aria-label={run.error === null ? "Output" : "Error"}>
      <header>
        <h2>
          {run.error === null ? "Output" : run.state === "cancelled" ? "Why it was cancelled" : "What it ended with"}
        </h2>
        {run.output !== null && <span className="faint size">{sizeWords(run.output.bytes)}</span>}
      </header>
      <div className="inner">
        {run.error !== null ? (
          <ErrorView error={run.error} />
        ) : (
          <StoredPayload path={outputPath(run.id)} bytes={run.output!.bytes} name={`output-${run.id}`} root="output" />
        )}
      </div>
    </section>
  );
}

// A batch may have a hundred; each of their pages shows the rest.
const eventsShown = 3;

export function RunInput({ answer, onRerun }: { readonly answer: RunAnswer; readonly onRerun: () => void }) {
  const { events, run } = answer;
  return (
    <section className="card run-output" aria-label="Input">
      <header>
        <h2>{events.length === 1 ? "Input" : `Input, a batch of ${events.length} events`}</h2>
        {events.length === 1 && <span className="faint size">{sizeWords(events[0]!.dataBytes)}</span>}
        {events.length === 1 && (
          <span className="ways">
            <ActButton look="link" small onClick={onRerun}>
              Rerun with another
            </ActButton>
          </span>
        )}
      </header>
      <div className="inner">
        {events.slice(0, eventsShown).map((event) => (
          <div key={event.internalId} className="stack">
            {events.length > 1 && (
              <h3>
                <Link className="mono" to="/events/$event" params={{ event: event.internalId }}>
                  <bdi>{visibleText(event.name)}</bdi>
                </Link>
              </h3>
            )}
            <StoredPayload
              path={events.length === 1 ? inputPath(run.id) : dataPath(event.internalId)}
              bytes={event.dataBytes}
              name={`event-${event.internalId}`}
              // Runs are found by what their events have, not by what a person put in its place.
              {...(answer.hasOtherData ? {} : { root: "event.data" })}
            />
          </div>
        ))}
        {events.length > eventsShown && <p className="quiet">And {events.length - eventsShown} more.</p>}
      </div>
    </section>
  );
}
