// One run from its event to its output: what it did, where it is now, and what it sent to others.
import { useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { ApiError } from "../../api/client.ts";
import { PageTitle } from "../../frame/page-title.tsx";
import { useKeys } from "../../keys.ts";
import { Empty } from "../../parts/empty.tsx";
import { ErrorPart } from "../../parts/error-part.tsx";
import { useNow } from "../../parts/now.ts";
import { Skeleton } from "../../parts/skeleton.tsx";
import { CancelDialog } from "./cancel-dialog.tsx";
import { CompareDialog } from "./compare-dialog.tsx";
import { RunMetadata } from "./metadata-view.tsx";
import { ReleaseDialog } from "./release-dialog.tsx";
import { RerunDialog } from "./rerun-dialog.tsx";
import { RerunFromDialog } from "./rerun-from-dialog.tsx";
import { RerunWithDialog } from "./rerun-with-dialog.tsx";
import { isOpen, type RunAnswer, type TimelineEntry } from "./run-data.ts";
import { RunHead } from "./run-head.tsx";
import { RunLogs } from "./run-logs.tsx";
import { RunInput, RunOutput } from "./run-output.tsx";
import { forgetRun, useFreshRun, useRun, useRunEffects, useRunGroup } from "./run-queries.ts";
import { stepOfParam, stepParams, tellingStep, titleOf } from "./run-words.ts";
import { RunsOfKey } from "./runs-of-key.tsx";
import { StepPanel } from "./step-panel.tsx";
import { Timeline } from "./timeline.tsx";
import "./run-page.css";

export function Page() {
  const { run: runId } = useParams({ from: "/runs/$run" });
  const { data, error, refetch } = useRun(runId);
  useFreshRun(runId, data);
  if (data !== undefined) return <Shown key={runId} answer={data} />;
  const isUnknown = error instanceof ApiError && error.status === 404;
  return (
    <>
      <PageTitle title="Run" under={{ to: "/runs", text: "Runs" }} />
      {isUnknown && (
        <section className="card">
          <Empty title="No run with this id">
            <p>It may have been pruned, or belong to another environment.</p>
            <Link className="button is-plain" to="/explain" search={{ q: runId }}>
              Look for what has this id
            </Link>
          </Empty>
        </section>
      )}
      {error !== null && !isUnknown && (
        <ErrorPart error={error} what="The run could not be read." onRetry={() => void refetch()} />
      )}
      {error === null && <Skeleton rows={12} />}
    </>
  );
}

type Asking =
  | { readonly kind: "rerun" | "rerun-with" | "cancel" | "release" | "compare" }
  | { readonly kind: "rerun-from"; readonly entry: TimelineEntry };

// A run this young moves by the second; nobody sees an old one move.
const livelyMs = 10 * 60_000;

function Shown({ answer }: { readonly answer: RunAnswer }) {
  const { run } = answer;
  const search = useSearch({ from: "/runs/$run" });
  const navigate = useNavigate({ from: "/runs/$run" });
  const queries = useQueryClient();
  const { data: group } = useRunGroup(run.id);
  const { data: effects } = useRunEffects(run.id, run.timeline.length > 0);
  const [asking, setAsking] = useState<Asking | null>(null);
  const open = isOpen(run);
  // Always near an end that is now: the page moves each second.
  const shownNow = useNow(open && Date.now() - run.createdAt < livelyMs ? Date.now() : null);
  const now = Math.max(
    shownNow,
    run.startedAt ?? run.createdAt,
    ...run.timeline.map(({ endedAt, startedAt }) => endedAt ?? startedAt),
  );
  const selected = stepOfParam(run, search.step) ?? tellingStep(run);
  const select = (entry: TimelineEntry) =>
    void navigate({
      search: (before) => ({ ...before, step: stepParams(run)(entry), attempt: undefined }),
      replace: true,
      resetScroll: false,
    });
  const goTo = (step: number) => {
    const asked = group?.runs.map(({ id }) => id) ?? [];
    const other = asked[asked.indexOf(run.id) + step];
    if (other !== undefined && asked.includes(run.id)) void navigate({ to: "/runs/$run", params: { run: other } });
  };
  const first = group?.runs[0]?.id;
  useKeys([
    { keys: "r", words: "rerun", run: () => setAsking({ kind: "rerun" }) },
    {
      keys: "l",
      words: "the step's logs",
      run: () =>
        selected !== undefined &&
        void navigate({ search: (before) => ({ ...before, tab: "logs" }), replace: true, resetScroll: false }),
    },
    { keys: "[", words: "previous run of the key", run: () => goTo(-1) },
    { keys: "]", words: "next run of the key", run: () => goTo(1) },
    {
      keys: "c",
      words: "compare with another run",
      run: () => {
        if (first === undefined || first === run.id) setAsking({ kind: "compare" });
        else void navigate({ to: "/runs/$run/compare/$other", params: { run: first, other: run.id } });
      },
    },
  ]);
  const { heading, title } = titleOf(run, group);
  const close = () => setAsking(null);
  const refresh = () => forgetRun(queries, run.id);
  return (
    <>
      <PageTitle title={title} under={{ to: "/runs", text: "Runs" }}>
        <bdi>{heading}</bdi>
      </PageTitle>
      <RunHead
        answer={answer}
        group={group}
        effects={effects?.effects ?? []}
        onRerun={() => setAsking({ kind: "rerun" })}
        onCancel={() => setAsking({ kind: "cancel" })}
        onRelease={() => setAsking({ kind: "release" })}
        onCompare={() => setAsking({ kind: "compare" })}
        onChanged={() => void refresh()}
      />
      <div className="run-io">
        <RunOutput run={run} />
        <RunInput answer={answer} onRerun={() => setAsking({ kind: "rerun-with" })} />
      </div>
      <div className="run-columns">
        <div className="run-main">
          <Timeline answer={answer} effects={effects?.effects ?? []} now={now} selected={selected} onSelect={select} />
          <RunLogs answer={answer} />
          <RunMetadata run={run} />
          {group !== undefined && (group.runCount > 1 || group.counts.suppressed > 0) && (
            <RunsOfKey group={group} runId={run.id} />
          )}
        </div>
        {selected !== undefined && (
          <StepPanel
            key={selected.stepId}
            answer={answer}
            entry={selected}
            effect={effects?.effects.find(({ stepId }) => stepId === selected.stepId) ?? null}
            group={group}
            isAsked={search.step !== undefined}
            onRerunFrom={() => setAsking({ kind: "rerun-from", entry: selected })}
          />
        )}
      </div>
      {asking?.kind === "compare" && <CompareDialog run={run} group={group} onClose={close} />}
      {asking?.kind === "rerun-with" && (
        <RerunWithDialog answer={answer} effects={effects?.effects ?? []} onClose={close} />
      )}
      {asking?.kind === "rerun" && <RerunDialog run={run} onClose={close} />}
      {asking?.kind === "rerun-from" && <RerunFromDialog run={run} entry={asking.entry} onClose={close} />}
      {asking?.kind === "cancel" && (
        <CancelDialog run={run} effects={effects?.effects ?? []} onClose={close} onDone={refresh} />
      )}
      {asking?.kind === "release" && <ReleaseDialog run={run} onClose={close} onDone={refresh} />}
    </>
  );
}
