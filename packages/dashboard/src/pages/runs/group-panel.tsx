// A group opened in place: everybody who asked, in order, with what was decided, and what can be done about it.
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useCallback, useState } from "react";
import { ask } from "../../api/client.ts";
import { useFollow } from "../../api/follow.ts";
import { say } from "../../frame/messages.ts";
import { hasPage } from "../../pages.ts";
import { ActButton, Button } from "../../parts/button.tsx";
import { runLink } from "../../parts/decision.tsx";
import { AskFirst } from "../../parts/dialog.tsx";
import { ErrorPart } from "../../parts/error-part.tsx";
import { Glyph, type GlyphName } from "../../parts/glyph.tsx";
import { Id } from "../../parts/id.tsx";
import { Sentence } from "../../parts/sentence.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { Time } from "../../parts/time.tsx";
import { lengthWords } from "../../parts/time-words.ts";
import { comparedRuns, counted, labelParts, numberWords } from "./group-words.ts";
import { type Asker, fetchAskers, type GroupItem } from "./groups-data.ts";
import { MayRepeat } from "./may-repeat.tsx";
import "./group-panel.css";

export function GroupPanel({ group }: { readonly group: GroupItem }) {
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery({
    queryKey: ["askers", group.id],
    queryFn: ({ pageParam, signal }) => fetchAskers(group.id, pageParam, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }) => next ?? undefined,
  });
  // A page being fetched is not given up for news.
  useFollow(useCallback(() => refetch({ cancelRefetch: false }), [refetch]));
  const askers = data?.pages.flatMap((page) => page.askers) ?? [];
  const newest = data?.pages.at(-1);
  const { runCount, counts } = newest?.group ?? group;
  const left = runCount + counts.suppressed - askers.length;
  return (
    <section className="group-panel" aria-label={`Who asked for ${group.label}`}>
      {error !== null && data === undefined ? (
        <ErrorPart error={error} what="Who asked could not be read." onRetry={() => void refetch()} />
      ) : data === undefined ? (
        <Skeleton rows={2} />
      ) : (
        <>
          <ol>
            {askers.map((asker, i) => (
              <AskerLine
                key={`${asker.eventId} ${asker.runId} ${asker.place}`}
                asker={asker}
                afterMs={i === 0 ? null : asker.at - askers[0]!.at}
              />
            ))}
          </ol>
          {hasNextPage && (
            <p>
              <Button look="link" small disabled={isFetchingNextPage} onClick={() => void fetchNextPage()}>
                Show more of those who asked{left > 0 && `: ${numberWords(left)} are left`}
              </Button>
            </p>
          )}
        </>
      )}
      <Actions group={newest?.group ?? group} laterOpen={newest?.laterOpen ?? []} />
    </section>
  );
}

const glyphs: Readonly<Record<Asker["place"], GlyphName>> = {
  first: "first",
  slipped: "slipped",
  maybe: "first",
  rerun: "rerun",
  suppressed: "suppressed",
};
const places: Readonly<Record<Asker["place"], string>> = {
  first: "first run",
  slipped: "slipped through",
  maybe: "maybe the same",
  rerun: "rerun",
  suppressed: "suppressed",
};

function AskerLine({
  asker: { at, place, sentence, eventId, runId },
  afterMs,
}: {
  readonly asker: Asker;
  readonly afterMs: number | null;
}) {
  const nouns = runId === null ? [] : [{ text: runId, link: (text: React.ReactNode) => runLink(runId, text) }];
  return (
    <li className={`is-${place}`}>
      <Glyph name={glyphs[place]} />
      <span className="when">
        <Time at={at} as="full" />
        {afterMs !== null && <span className="faint"> +{lengthWords(afterMs)}</span>}
      </span>
      <span className="place">{places[place]}</span>
      <span className="sentence">
        <Sentence text={sentence} nouns={nouns} />
      </span>
      <span className="event faint">
        event{" "}
        <Id
          id={eventId}
          of="event"
          link={(text) => (
            <Link to="/events/$event" params={{ event: eventId }}>
              {text}
            </Link>
          )}
        />
      </span>
    </li>
  );
}

interface ActionsProps {
  readonly group: GroupItem;
  /** Runs that slipped through and have not ended, however many are listed. */
  readonly laterOpen: readonly string[];
}

function Actions({ group, laterOpen: open }: ActionsProps) {
  const [isAsking, setAsking] = useState(false);
  const [first, second] = comparedRuns(group) ?? [group.runs[0]];
  const { value } = labelParts(group);
  return (
    <div className="button-row">
      {first !== undefined && (
        <Link className="button is-plain is-small" to="/runs/$run" params={{ run: first.id }}>
          Open the first run
        </Link>
      )}
      {second !== undefined && hasPage("/runs/$run/compare/$other") && (
        <Link
          className="button is-plain is-small"
          to="/runs/$run/compare/$other"
          params={{ run: first!.id, other: second.id }}
        >
          Compare
        </Link>
      )}
      {hasPage("/explain") && (
        <Link className="button is-plain is-small" to="/explain" search={{ q: second?.id ?? first?.id ?? value }}>
          Explain
        </Link>
      )}
      {open.length > 0 && (
        <ActButton small onClick={() => setAsking(true)}>
          Cancel the later {open.length === 1 ? "run" : "runs"}
        </ActButton>
      )}
      {group.isLoud && group.isGuess && <MayRepeat group={group} />}
      {isAsking && (
        <AskFirst
          title={`Cancel ${counted(open.length, "later run")}?`}
          action={open.length === 1 ? "Cancel the later run" : `Cancel ${open.length} runs`}
          reason="offered"
          onClose={() => setAsking(false)}
          onAct={async (reason) => {
            const answers = await Promise.all(
              open.map((id) =>
                ask("POST /api/runs/:run/cancel", { params: { run: id }, body: reason === "" ? {} : { reason } }),
              ),
            );
            const done = answers.filter(({ cancelled }) => cancelled).length;
            say(
              `Cancelled ${counted(done, "run")}${done < answers.length ? `; ${answers.length - done} had already ended` : ""}. It stands in the audit.`,
            );
          }}
        >
          <p>
            No further step of {open.length === 1 ? "it" : "them"} will start. Steps that finished stay finished: what
            they made elsewhere is not deleted. The first run goes on.
          </p>
        </AskFirst>
      )}
    </div>
  );
}
