// Actions on an event: send it once more, or decide what waits for a person.
import { useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { ask, getText } from "../../api/client.ts";
import { say } from "../../frame/messages.ts";
import { ActButton } from "../../parts/button.tsx";
import { AskFirst } from "../../parts/dialog.tsx";
import { dataPath, type EventStory, sendEvent } from "./event-story.ts";

type Asking = "resend" | "release" | "drop" | null;

export function EventActions({ story: { event, decisions } }: { readonly story: EventStory }) {
  const [asking, setAsking] = useState<Asking>(null);
  const navigate = useNavigate();
  const queries = useQueryClient();
  const close = () => setAsking(null);
  const waiting = decisions.find(({ kind, runId }) => runId === null && (kind === "paused" || kind === "held"));
  const resend = async () => {
    const data = await getText(dataPath(event.internalId));
    const { ids } = await sendEvent({ name: event.name, id: "", data });
    say("Sent again, under a new id");
    await queries.invalidateQueries({ queryKey: ["events"] });
    await navigate({ to: "/events/$event", params: { event: ids[0]! } });
  };
  const decide = async (action: "release" | "drop", reason: string) => {
    await ask(`POST /api/events/:event/${action}`, {
      params: { event: event.internalId },
      body: { function: waiting!.function, ...(reason === "" ? {} : { reason }) },
    });
    say(action === "release" ? "Released. What it started is below." : "Dropped. It will start nothing.");
    await queries.invalidateQueries({ queryKey: ["event"] });
  };
  return (
    <div className="button-row">
      {waiting !== undefined && (
        <>
          <ActButton look="primary" onClick={() => setAsking("release")}>
            Release
          </ActButton>
          <ActButton onClick={() => setAsking("drop")}>Drop</ActButton>
        </>
      )}
      <ActButton onClick={() => setAsking("resend")}>Resend</ActButton>
      <Link className="button is-plain" to="/events/new" search={{ from: event.internalId }}>
        Change and send
      </Link>
      {asking === "resend" && (
        <AskFirst title="Send this event again" action="Resend under a new id" onAct={resend} onClose={close}>
          A new event with the same data is sent under a new id, so its id stops nothing. A function whose key is still
          taken answers with its first run; a function without a key runs again.
        </AskFirst>
      )}
      {asking === "release" && (
        <AskFirst
          title="Release this event"
          action="Release the event"
          reason="offered"
          onAct={(reason) => decide("release", reason)}
          onClose={close}
        >
          It starts what it would have started in {waiting?.function}. If its key was taken meanwhile, it is a duplicate
          and starts nothing.
        </AskFirst>
      )}
      {asking === "drop" && (
        <AskFirst
          title="Drop this event"
          action="Drop the event"
          reason="offered"
          onAct={(reason) => decide("drop", reason)}
          onClose={close}
        >
          It will never start a run of {waiting?.function}. The event itself is kept.
        </AskFirst>
      )}
    </div>
  );
}
