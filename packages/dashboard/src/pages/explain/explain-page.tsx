// Why did this run, or not run, or run twice? The story of one event, run or key in sentences.
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { PageTitle } from "../../frame/page-title.tsx";
import { useKeys } from "../../keys.ts";
import { Button } from "../../parts/button.tsx";
import { Empty } from "../../parts/empty.tsx";
import { ErrorPart } from "../../parts/error-part.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { Tag } from "../../parts/tag.tsx";
import { visibleText } from "../../parts/visible-text.ts";
import { Happened } from "./happened.tsx";
import { Hits, NoHit } from "./hits.tsx";
import { InStory } from "./in-story.tsx";
import { useStory } from "./story-data.ts";
import { ToDo } from "./to-do.tsx";
import { Verdict } from "./verdict.tsx";
import "./explain.css";

export function Page() {
  const ask = useSearch({ from: "/explain" });
  const { data, error, isPending, isFetching, refetch } = useStory(ask);
  const about = data?.kind === "story" ? data.about : null;
  return (
    <div className="explain-page">
      <PageTitle title="Explain" />
      <Question q={ask.q ?? ""} about={about} />
      {ask.q === undefined ? (
        <section className="card">
          <Empty title="Paste an id or a key">
            <p>
              Of a run, an event, a function's key, or a value such as an order's number. You are told why it ran, did
              not run, or ran twice.
            </p>
          </Empty>
        </section>
      ) : error !== null && data === undefined ? (
        <section className="card">
          <ErrorPart error={error} what="The story could not be told. Runs go on." onRetry={() => void refetch()} />
        </section>
      ) : isPending ? (
        <section className="card">
          <Skeleton rows={6} />
        </section>
      ) : data === undefined ? null : data.kind === "several" ? (
        <Hits sentence={data.sentence} hits={data.hits} />
      ) : data.kind === "none" ? (
        <NoHit sentence={data.sentence} examples={data.examples} />
      ) : (
        <div className="columns" aria-busy={isFetching}>
          <div className="stack">
            <Verdict story={data} />
            <Happened story={data} />
          </div>
          <div className="stack">
            <ToDo todo={data.todo} />
            <InStory things={data.things} />
          </div>
        </div>
      )}
    </div>
  );
}

function Question({ q, about }: { readonly q: string; readonly about: string | null }) {
  const [text, setText] = useState(q);
  const field = useRef<HTMLInputElement>(null);
  const navigate = useNavigate({ from: "/explain" });
  // Another address: a hit was chosen, or one went back.
  useEffect(() => setText(q), [q]);
  const take = () => {
    field.current?.focus();
    field.current?.select();
  };
  useKeys([{ keys: "/", words: "Explain a run, event or key", run: take }]);
  return (
    <search>
      <form
        className="question"
        onSubmit={(event) => {
          event.preventDefault();
          if (text.trim() !== "") void navigate({ search: { q: text.trim() } });
        }}
      >
        <Icon name="search" />
        <input
          ref={field}
          type="text"
          className="mono"
          aria-label="An id, a key or a value"
          placeholder="48213, evt_…, pi_…"
          value={text}
          onChange={({ target }) => setText(target.value)}
          spellCheck={false}
          autoComplete="off"
        />
        {about !== null && text === q && <Tag>{visibleText(about)}</Tag>}
        <Button type="submit" small>
          Explain
        </Button>
      </form>
    </search>
  );
}
