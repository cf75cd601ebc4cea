// The first event, ready to be sent: the name a function listens to, with the field its key is made of.
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { ActButton, buttonClass } from "../../parts/button.tsx";
import { visibleText } from "../../parts/visible-text.ts";
import { sendEvent } from "../events/event-story.ts";
import { problemWords } from "../run/run-queries.ts";
import type { Progress } from "./first-minutes-data.ts";
import { firstData } from "./snippets.ts";

export function SendFirst({ progress: { functions } }: { readonly progress: Progress }) {
  const [failure, setFailure] = useState<string | null>(null);
  const of = functions.find(({ triggers }) => triggers.some((each) => "event" in each && !each.event.endsWith("*")));
  const trigger = of?.triggers.find((each) => "event" in each && !each.event.endsWith("*"));
  const name = trigger !== undefined && "event" in trigger ? trigger.event : null;
  if (of === undefined || name === null)
    return (
      <p className="quiet">
        No function listens to an event: they run by their schedules. <Link to="/functions">Invoke one</Link> to see a
        run.
      </p>
    );
  const data = firstData(of.key?.expression ?? null);
  const send = async () => {
    setFailure(null);
    await sendEvent({ name, id: "", data }).catch((error) => setFailure(problemWords(error)));
  };
  return (
    <>
      <p className="quiet">
        <bdi>{visibleText(of.function)}</bdi> listens to it. As your code would send it:
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls sideways must be reachable by keys */}
      <pre tabIndex={0}>{visibleText(`await idem.send({ name: ${JSON.stringify(name)}, data: ${data} });`)}</pre>
      {failure !== null && (
        <p className="failed" role="alert">
          {visibleText(failure)}
        </p>
      )}
      <div className="button-row">
        <ActButton look="primary" onClick={() => void send()}>
          Send it
        </ActButton>
        <Link className={buttonClass()} to="/events/new" search={{ name }}>
          Change it first
        </Link>
      </div>
    </>
  );
}
