// One claim: who holds it, what it answered, and everybody who asked.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { layerOf } from "../../../../idem/src/server/api/key-layers.ts";
import { ApiError, ask } from "../../api/client.ts";
import { say } from "../../frame/messages.ts";
import { PageTitle } from "../../frame/page-title.tsx";
import { ActButton } from "../../parts/button.tsx";
import { functionLink } from "../../parts/decision.tsx";
import { AskFirst } from "../../parts/dialog.tsx";
import { Empty } from "../../parts/empty.tsx";
import { ErrorPart } from "../../parts/error-part.tsx";
import { Id } from "../../parts/id.tsx";
import { useNow } from "../../parts/now.ts";
import { Skeleton } from "../../parts/skeleton.tsx";
import { StateIcon } from "../../parts/state-icon.tsx";
import { Facts } from "../../parts/table.tsx";
import { Tag } from "../../parts/tag.tsx";
import { Time } from "../../parts/time.tsx";
import { visibleText } from "../../parts/visible-text.ts";
import { WindowBar, windowOf } from "../../parts/window-bar.tsx";
import { type ClaimPlace, readClaimName } from "./claim-name.ts";
import { KeyAskers } from "./key-askers.tsx";
import { KeyHolder } from "./key-holder.tsx";
import type { KeyStory } from "./key-story.ts";
import { keyWords, layerWords, rateOf, scopeWords } from "./key-words.ts";
import "./key.css";

export function Page() {
  const { claim } = useParams({ from: "/keys/$claim" });
  const place = readClaimName(claim);
  const queryKey = ["key", place.scope, place.key];
  const { data, error, refetch } = useQuery({
    queryKey,
    queryFn: ({ signal }) =>
      ask("GET /api/keys/:scope/:key", { params: { scope: place.scope, key: place.key }, signal }),
  });
  const layer = layerWords(place);
  const scope = scopeWords(place);
  return (
    <>
      <PageTitle title={`${keyWords(place)}, ${layer}`} under={{ to: "/keys", text: "Keys" }}>
        <span className="capital">{layer}</span> of <bdi>{visibleText(scope)}</bdi>
      </PageTitle>
      {error instanceof ApiError && error.code === "KEY_UNKNOWN" ? (
        <Empty title="Nobody holds this key">
          <p>Keys are kept until their window ends.</p>
        </Empty>
      ) : error !== null ? (
        <section className="card">
          <ErrorPart error={error} what="The key could not be read." onRetry={() => void refetch()} />
        </section>
      ) : data === undefined ? (
        <section className="card">
          <Skeleton rows={4} />
        </section>
      ) : (
        <Story story={data} place={place} queryKey={queryKey} />
      )}
    </>
  );
}

function Story({
  story,
  place,
  queryKey,
}: {
  readonly story: KeyStory;
  readonly place: ClaimPlace;
  readonly queryKey: readonly string[];
}) {
  const { key, run } = story;
  const again = key.askedCount - 1;
  const rate = rateOf(key);
  return (
    <>
      <div className="key-head">
        <h2 className="big">
          <bdi className="mono">{visibleText(keyWords(key))}</bdi>
          {rate !== null && <Tag tone="waiting">{rate} asks a minute</Tag>}
        </h2>
        <Release story={story} place={place} queryKey={queryKey} />
      </div>
      <Facts
        facts={[
          ["Scope", key.function === null ? visibleText(scopeWords(key)) : functionLink(key.function)],
          ["Holder", <KeyHolder key="holder" item={key} />],
          ...(run === null
            ? []
            : [
                [
                  "Outcome",
                  <span className="decision" key="outcome">
                    <StateIcon state={run.state} words={false} /> {run.state}
                  </span>,
                ] as const,
              ]),
          ["Claimed", <Time key="claimed" at={key.takenAt} />],
          [
            "Asked again",
            again === 0 ? (
              "never"
            ) : (
              <span key="again">
                {again === 1 ? "once" : `${again} times`}, last at <Time at={key.lastAskedAt} />
              </span>
            ),
          ],
          [
            "Window",
            <WindowBar
              key="window"
              window={key.isHeld ? { kind: "until-finished" } : windowOf(key.takenAt, key.windowEndsAt)}
              released={key.state === "released"}
            />,
          ],
        ]}
      />
      <KeyAskers story={story} />
      {story.earlier.length > 0 && (
        <section className="card">
          <header>
            <h2>Held it before</h2>
          </header>
          <ul className="plain-rows">
            {story.earlier.map((earlier) => (
              <li key={earlier.id}>
                <StateIcon state={earlier.state} />
                <Id
                  id={earlier.id}
                  of="run"
                  link={(text) => (
                    <Link to="/runs/$run" params={{ run: earlier.id }}>
                      {text}
                    </Link>
                  )}
                />
                <span className="quiet">
                  <Time at={earlier.createdAt} />
                </span>
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

function Release({
  story: { key },
  place,
  queryKey,
}: {
  readonly story: KeyStory;
  readonly place: ClaimPlace;
  readonly queryKey: readonly string[];
}) {
  const [isAsking, setAsking] = useState(false);
  const queries = useQueryClient();
  const now = useNow(key.windowEndsAt);
  if (key.state === "released" || (key.windowEndsAt <= now && !key.isHeld)) return null;
  const words = keyWords(key);
  const release = async (reason: string) => {
    const params = { scope: place.scope, key: place.key };
    await ask("POST /api/keys/:scope/:key/release", { params, body: { reason } });
    say(`Key ${words} was released. The reason is in the audit.`);
    await Promise.all([queries.invalidateQueries({ queryKey }), queries.invalidateQueries({ queryKey: ["keys"] })]);
  };
  return (
    <>
      <ActButton onClick={() => setAsking(true)}>Release</ActButton>
      {isAsking && (
        <AskFirst
          title={<>Release key {visibleText(words)}</>}
          action="Release the key"
          reason="demanded"
          onAct={release}
          onClose={() => setAsking(false)}
        >
          {effectOf(layerOf(key.scope))} What was done under it stays done.
        </AskFirst>
      )}
    </>
  );
}

function effectOf(layer: ReturnType<typeof layerOf>): string {
  if (layer === "webhook")
    return "The next delivery with this id will be taken for a new one. Destination keys stay the same.";
  if (layer === "event")
    return "The next event with this id will be taken for a new one. Destination keys stay the same.";
  if (layer === "http") return "The next request with this key will be handled anew. Destination keys stay the same.";
  return "The next event with this key will start a run. Destination keys stay the same.";
}
