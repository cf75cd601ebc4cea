// The decisions for an event that was just sent.
import { Link } from "@tanstack/react-router";
import { DecisionWords, functionLink, runLink } from "../../parts/decision.tsx";
import { Id } from "../../parts/id.tsx";
import { visibleText } from "../../parts/visible-text.ts";
import type { SentEvents } from "./event-story.ts";

export interface SentOnce {
  readonly time: number;
  readonly id: string;
  readonly sent: SentEvents;
}

export function SentAnswers({ answers }: { readonly answers: readonly SentOnce[] }) {
  return (
    <section className="card" aria-live="polite">
      <header>
        <h2>What was decided</h2>
      </header>
      {answers.length === 0 ? (
        <p className="card-body quiet">Nothing was sent yet.</p>
      ) : (
        answers.map((each) => <Answer key={each.time} {...each} isOne={answers.length === 1} />)
      )}
    </section>
  );
}

function Answer({ time, sent: { ids, decisions, unmatched }, isOne }: SentOnce & { readonly isOne: boolean }) {
  const [event] = ids;
  return (
    <div className="sent">
      <h3>
        {isOne ? "Sent" : time === 1 ? "The first time" : "The second time"}
        <Id
          id={event!}
          of="event"
          link={(text) => (
            <Link to="/events/$event" params={{ event: event! }}>
              {text}
            </Link>
          )}
        />
      </h3>
      {unmatched ? (
        <p className="quiet">No function has this trigger. The event is kept; nothing ran.</p>
      ) : (
        <ul>
          {decisions.map((decision) => (
            <li key={decision.function}>
              <DecisionWords decision={decision} />
              <span className="quiet">
                {functionLink(decision.function)}
                {decision.runId !== null && (
                  <> · run {runLink(decision.runId, <span className="mono">{decision.runId.slice(-6)}</span>)}</>
                )}
              </span>
              {decision.reason !== null && <span className="faint">{visibleText(decision.reason)}</span>}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
