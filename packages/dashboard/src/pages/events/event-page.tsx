// One event: what was decided for each function and why, what came again, and its payload.
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { ApiError, ask, getText } from "../../api/client.ts";
import { say } from "../../frame/messages.ts";
import { PageTitle } from "../../frame/page-title.tsx";
import { useKeys } from "../../keys.ts";
import { copyText } from "../../parts/copy.tsx";
import { Empty } from "../../parts/empty.tsx";
import { ErrorPart } from "../../parts/error-part.tsx";
import { cutMiddle, Id } from "../../parts/id.tsx";
import { Note } from "../../parts/note.tsx";
import { StoredPayload } from "../../parts/payload.tsx";
import { sizeWords } from "../../parts/size-words.ts";
import { Skeleton } from "../../parts/skeleton.tsx";
import { Facts } from "../../parts/table.tsx";
import { Time } from "../../parts/time.tsx";
import { lengthWords } from "../../parts/time-words.ts";
import { visibleText } from "../../parts/visible-text.ts";
import { DecisionTable } from "./decision-table.tsx";
import { EventActions } from "./event-actions.tsx";
import { EventFrom } from "./event-from.tsx";
import { originOf } from "./event-lines.ts";
import { dataPath, type EventStory } from "./event-story.ts";
import "../keys/key.css";
import "./event.css";

export function Page() {
  const { event } = useParams({ from: "/events/$event" });
  const { data, error, refetch } = useQuery({
    queryKey: ["event", event],
    queryFn: ({ signal }) => ask("GET /api/events/:event", { params: { event }, signal }),
  });
  const name = data?.event.name ?? "event";
  return (
    <>
      <PageTitle title={`Event ${name}`} under={{ to: "/events", text: "Events" }}>
        Event <bdi className="mono">{visibleText(cutMiddle(data?.event.id ?? event, 30))}</bdi>
      </PageTitle>
      {error instanceof ApiError && error.status === 404 ? (
        <Empty title="No event with this id">
          <p>It may have been reaped, or it is in another environment.</p>
        </Empty>
      ) : error !== null ? (
        <section className="card">
          <ErrorPart error={error} what="The event could not be read." onRetry={() => void refetch()} />
        </section>
      ) : data === undefined ? (
        <section className="card">
          <Skeleton rows={4} />
        </section>
      ) : (
        <Story story={data} />
      )}
    </>
  );
}

// A sender's clock and ours are never equal; a difference below this is no news.
const toldMs = 1_000;

function Story({ story }: { readonly story: EventStory }) {
  const { event, first, duplicates, decisions } = story;
  const path = dataPath(event.internalId);
  useKeys([
    {
      keys: "y",
      words: "Copy the payload",
      run: () =>
        void getText(path).then(async (text) =>
          say((await copyText(text)) ? "Copied the payload" : "This browser did not let the page copy", {
            brief: true,
          }),
        ),
    },
  ]);
  return (
    <>
      <div className="key-head">
        <h2 className="big">
          <bdi>{visibleText(event.name)}</bdi>
        </h2>
        <EventActions story={story} />
      </div>
      {first !== null && (
        <Note
          tone="suppressed"
          title="This is a duplicate"
          actions={
            <Link className="button is-plain" to="/events/$event" params={{ event: first.internalId }}>
              Open the first
            </Link>
          }
        >
          Its id came first {lengthWords(event.receivedAt - first.receivedAt)} earlier, at{" "}
          <Time at={first.receivedAt} />. It started nothing.
        </Note>
      )}
      {duplicates.length > 0 && (
        <Note
          tone="suppressed"
          title={duplicates.length === 1 ? "It came once more" : `It came ${duplicates.length} times more`}
        >
          {duplicates.length === 1 ? "It" : "Each"} was answered with what this one started.
        </Note>
      )}
      <Facts
        facts={[
          ["Id", <Id key="id" id={event.id} of="event" chars={40} />],
          ...(event.id === event.internalId
            ? []
            : [["Stored as", <Id key="stored" id={event.internalId} of="stored event" />] as const]),
          ["Received", <Time key="received" at={event.receivedAt} />],
          ...(Math.abs(event.ts - event.receivedAt) < toldMs
            ? []
            : [["Happened", <Time key="happened" at={event.ts} />] as const]),
          ["From", <EventFrom key="from" origin={originOf(event)} />],
          ["Size", sizeWords(event.dataBytes)],
        ]}
      />
      <section className="card">
        <header>
          <h2>Decisions</h2>
        </header>
        {decisions.length === 0 ? (
          <Empty title={first === null ? "No function has this trigger" : "Nothing was decided again"}>
            <p>{first === null ? "The event is kept; nothing ran." : "What the first started answers for it."}</p>
          </Empty>
        ) : (
          <DecisionTable decisions={decisions} />
        )}
      </section>
      {duplicates.length > 0 && <Again duplicates={duplicates} since={event.receivedAt} />}
      <section className="card">
        <header>
          <h2>Payload</h2>
        </header>
        <div className="card-body">
          <StoredPayload path={path} bytes={event.dataBytes} name={`event-${event.internalId}`} root="event.data" />
        </div>
      </section>
    </>
  );
}

function Again({ duplicates, since }: { readonly duplicates: EventStory["duplicates"]; readonly since: number }) {
  return (
    <section className="card">
      <header>
        <h2>Came again</h2>
      </header>
      <ul className="plain-rows">
        {duplicates.map((each) => (
          <li key={each.internalId}>
            <Time at={each.receivedAt} />
            <Id
              id={each.internalId}
              of="event"
              link={(text) => (
                <Link to="/events/$event" params={{ event: each.internalId }}>
                  {text}
                </Link>
              )}
            />
            <span className="quiet">{lengthWords(each.receivedAt - since)} after the first</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
