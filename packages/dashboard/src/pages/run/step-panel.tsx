// One step: its outcome, its input, its attempts, and the key it sent to others.
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { ActButton, Button } from "../../parts/button.tsx";
import { Icon } from "../../parts/icon.tsx";
import { cutMiddle } from "../../parts/id.tsx";
import { StoredPayload } from "../../parts/payload.tsx";
import { sizeWords } from "../../parts/size-words.ts";
import { StateIcon } from "../../parts/state-icon.tsx";
import { Time } from "../../parts/time.tsx";
import { durationWords } from "../../parts/time-words.ts";
import { visibleText } from "../../parts/visible-text.ts";
import { Attempts } from "./attempts.tsx";
import { DestinationKey, DestinationTold } from "./destination-part.tsx";
import { ErrorView } from "./error-view.tsx";
import { StepMetadata } from "./metadata-view.tsx";
import { isRemark, isWait, nameOf } from "./rows.ts";
import type { EffectItem, GroupItem, RunAnswer, TimelineEntry } from "./run-data.ts";
import { StepLogs } from "./run-logs.tsx";
import { stepOutputPath } from "./run-queries.ts";
import { StepInput } from "./step-input.tsx";
import { workerWords } from "./step-table.tsx";
import "./step-panel.css";

interface StepPanelProps {
  readonly answer: RunAnswer;
  readonly entry: TimelineEntry;
  readonly effect: EffectItem | null;
  readonly group: GroupItem | undefined;
  /** Somebody chose this step: where there is no room beside the timeline, the panel is a sheet over it. */
  readonly isAsked: boolean;
  readonly onRerunFrom: () => void;
}

const tabs = ["outcome", "input", "attempts", "logs"] as const;

export function StepPanel({ answer, entry, effect, group, isAsked, onRerunFrom }: StepPanelProps) {
  const { tab: chosen = "outcome" } = useSearch({ from: "/runs/$run" });
  const tab = isRemark(entry) ? "outcome" : chosen;
  const navigate = useNavigate({ from: "/runs/$run" });
  const begun = entry.attempts[0]?.startedAt ?? entry.startedAt;
  const words = {
    outcome: "Outcome",
    input: "Input",
    attempts: `Attempts ${entry.attempts.length}`,
    logs: "Logs",
  } as const;
  const zoom = () => {
    const { createdAt } = answer.run;
    const end = entry.endedAt ?? Math.max(begun + 1, Date.now());
    const edge = Math.max(1, Math.round((end - begun) * 0.1));
    void navigate({
      search: (before) => ({
        ...before,
        from: `${Math.max(0, begun - edge - createdAt)}`,
        to: `${end + edge - createdAt}`,
        view: undefined,
      }),
      replace: true,
      resetScroll: false,
    });
  };
  return (
    <aside className={`card step-panel${isAsked ? " is-asked" : ""}`} aria-label={`Step ${nameOf(entry)}`}>
      <header>
        {isRemark(entry) ? (
          <Icon name="explain" />
        ) : (
          <StateIcon state={entry.state === "retrying" ? "waiting" : entry.state} />
        )}
        <h2 className="cut">
          <bdi>{visibleText(nameOf(entry))}</bdi>
        </h2>
        {entry.endedAt !== null && !isRemark(entry) && (
          <span className="length">{durationWords(entry.endedAt - begun)}</span>
        )}
        <Link
          className="close"
          from="/runs/$run"
          to="."
          search={(before) => ({ ...before, step: undefined, attempt: undefined, tab: undefined })}
          replace
          resetScroll={false}
          aria-label="Close the step"
        >
          <Icon name="cross" />
        </Link>
      </header>
      <nav className="tabs" aria-label="About the step">
        {(isRemark(entry) ? tabs.slice(0, 1) : tabs).map((each) => (
          <Link
            key={each}
            from="/runs/$run"
            to="."
            search={(before) => ({ ...before, tab: each === "outcome" ? undefined : each })}
            replace
            resetScroll={false}
            aria-current={each === tab ? "page" : undefined}
            activeOptions={{ exact: true, includeSearch: true }}
          >
            {words[each]}
          </Link>
        ))}
      </nav>
      <div className="inner">
        {tab === "outcome" && (
          <>
            <DestinationTold entry={entry} effect={effect} run={answer.run} group={group} />
            <Outcome entry={entry} runId={answer.run.id} />
            <StepMetadata run={answer.run} stepId={entry.stepId} />
            <DestinationKey entry={entry} effect={effect} />
            <div className="button-row">
              {entry.stepId !== "" && entry.state !== "waiting" && !isRemark(entry) && (
                <ActButton small onClick={onRerunFrom}>
                  Rerun from here
                </ActButton>
              )}
              {!entry.isKept && (
                <Button small look="link" onClick={zoom}>
                  Zoom to this step
                </Button>
              )}
            </div>
            <dl className="pairs">
              <dt>Started</dt>
              <dd>
                <Time at={begun} as="row" />
              </dd>
              <dt>Ended</dt>
              <dd>{entry.endedAt === null ? "not yet" : <Time at={entry.endedAt} as="row" />}</dd>
              {entry.attempts.length > 0 && (
                <>
                  <dt>Worker</dt>
                  <dd>{workerWords(entry.attempts.at(-1)!.worker, answer.workers)}</dd>
                </>
              )}
              {entry.childRunId !== null && (
                <>
                  <dt>Invoked run</dt>
                  <dd>
                    <Link className="mono" to="/runs/$run" params={{ run: entry.childRunId }}>
                      {cutMiddle(entry.childRunId)}
                    </Link>
                  </dd>
                </>
              )}
              {entry.output !== null && (
                <>
                  <dt>Size</dt>
                  <dd>{sizeWords(entry.output.bytes)}</dd>
                </>
              )}
            </dl>
          </>
        )}
        {tab === "input" && <StepInput answer={answer} entry={entry} />}
        {tab === "logs" && <StepLogs runId={answer.run.id} stepId={entry.stepId} />}
        {tab === "attempts" && <Attempts entry={entry} workers={answer.workers} />}
      </div>
    </aside>
  );
}

function Outcome({ entry, runId }: { readonly entry: TimelineEntry; readonly runId: string }) {
  if (entry.error !== null) {
    return (
      <>
        {entry.state === "retrying" && entry.waitsUntil !== null && (
          <p className="quiet">
            Attempt {entry.attempts.length} failed. It is tried again at <Time at={entry.waitsUntil} as="row" />.
          </p>
        )}
        <ErrorView error={entry.error} />
      </>
    );
  }
  if (entry.output !== null)
    return (
      <StoredPayload
        path={stepOutputPath(runId, entry.stepId)}
        bytes={entry.output.bytes}
        name={`${entry.name}-${runId}`}
      />
    );
  if (entry.state === "waiting") {
    return (
      <p className="quiet">
        {entry.kind === "sleep" ? "It sleeps" : "It waits"}
        {entry.waitsUntil === null || entry.waitsUntil >= Number.MAX_SAFE_INTEGER ? (
          ""
        ) : (
          <>
            {" "}
            until <Time at={entry.waitsUntil} /> at the latest
          </>
        )}
        .
      </p>
    );
  }
  return <p className="quiet">{isWait(entry) ? "The wait is over." : "No value was kept."}</p>;
}
