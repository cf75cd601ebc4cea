// The same event once more, as a double click or a webhook that is delivered again would.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { getText } from "../../api/client.ts";
import { ActButton, buttonClass } from "../../parts/button.tsx";
import { Glyph } from "../../parts/glyph.tsx";
import { cutMiddle } from "../../parts/id.tsx";
import { visibleText } from "../../parts/visible-text.ts";
import { dataPath, sendEvent } from "../events/event-story.ts";
import { problemWords } from "../run/run-queries.ts";
import type { Progress } from "./first-minutes-data.ts";

const newId = (): string => `first-minutes-${crypto.getRandomValues(new Uint32Array(2)).join("")}`;

export function SendAgain({ progress: { event, run, functions } }: { readonly progress: Progress }) {
  const [failure, setFailure] = useState<string | null>(null);
  const path = event === null ? "" : dataPath(event.internalId);
  const { data } = useQuery({
    queryKey: ["payload", path, false],
    queryFn: ({ signal }) => getText(path, signal),
    enabled: event !== null,
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (event === null || run === null || data === undefined) return null;
  const of = functions.find((each) => each.function === run.function);
  const isOwnId = event.id !== event.internalId;
  const hasKey = run.key !== null || isOwnId;
  const send = async () => {
    setFailure(null);
    try {
      if (hasKey) await sendEvent({ name: event.name, id: isOwnId ? event.id : "", data });
      else {
        // Nothing marks it as the same: both carry an id of their own making.
        const id = newId();
        await sendEvent({ name: event.name, id, data });
        await sendEvent({ name: event.name, id, data });
      }
    } catch (error) {
      setFailure(problemWords(error));
    }
  };
  return (
    <>
      <p className="quiet">
        {hasKey
          ? "Send the same event once more, as a double click or a webhook that is delivered again would."
          : `${visibleText(run.function)} has no key, so the same event without an id would run again. Sent twice under one id, it runs once.`}
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls sideways must be reachable by keys */}
      <pre tabIndex={0}>
        {visibleText(`name  ${JSON.stringify(event.name)}\ndata  ${data.slice(0, 400)}`).replaceAll("␊", "\n")}
      </pre>
      {failure !== null && (
        <p className="failed" role="alert">
          {visibleText(failure)}
        </p>
      )}
      <div className="button-row">
        <ActButton look="primary" onClick={() => void send()}>
          {hasKey ? "Send it again" : "Send it twice under one id"}
        </ActButton>
        <Link className={buttonClass()} to="/events/new" search={{ name: event.name, from: event.internalId }}>
          Change it first
        </Link>
      </div>
      <p className="first-told">
        <Glyph name="suppressed" size={14} />
        <span>
          {run.key !== null ? (
            <>
              You will see <b className="suppressed">duplicate of the first event</b>: key{" "}
              <span className="mono">{visibleText(run.key)}</span> is held by run{" "}
              <span className="mono">{cutMiddle(run.id)}</span>, no second run starts.
            </>
          ) : (
            <>
              You will see <b className="suppressed">duplicate of the first event</b>: its id is taken, no second run
              starts.{of?.key === null && ' With a key, no id is needed: idempotency: "event.data.…".'}
            </>
          )}
        </span>
      </p>
    </>
  );
}
