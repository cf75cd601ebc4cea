// One run of a group: its state, when it began, and the beginning of what came out of it; or what it waits for.
import { Link } from "@tanstack/react-router";
import { StateIcon } from "../../parts/state-icon.tsx";
import { Tag } from "../../parts/tag.tsx";
import { Time } from "../../parts/time.tsx";
import { visibleText } from "../../parts/visible-text.ts";
import type { GroupedRun } from "./groups-data.ts";
import { madeBy, previewTitle, previewWords } from "./preview-words.ts";

const isOpen = ({ state }: GroupedRun): boolean =>
  state === "queued" || state === "running" || state === "waiting" || state === "parked";

export function RunLine({ run }: { readonly run: GroupedRun }) {
  const preview = previewWords(run);
  return (
    <span className="run-line">
      <StateIcon state={run.state} />
      <Link className="at" to="/runs/$run" params={{ run: run.id }}>
        <Time at={run.createdAt} as="full" />
      </Link>
      {preview !== "" && (
        <bdi className={`output mono cut ${run.state === "failed" ? "failed" : "quiet"}`} title={previewTitle(run)}>
          {run.previewStep !== null && <span className="spoken">{madeBy(run.previewStep)} </span>}
          {visibleText(preview)}
        </bdi>
      )}
      {isOpen(run) && run.attempt !== null && <Attempt attempt={run.attempt} />}
      {preview === "" && isOpen(run) && run.attempt === null && <span className="state quiet">{run.state}</span>}
    </span>
  );
}

/** "attempt 3 of 4" with the reason: a step that fails again and again may not hide behind "running". */
function Attempt({ attempt: { number, of, error, step } }: { readonly attempt: NonNullable<GroupedRun["attempt"]> }) {
  return (
    <>
      <Tag>
        <span className="nowrap">
          attempt {Math.min(number + 1, of)} of {of}
        </span>
      </Tag>
      <span className="why faint cut" title={visibleText(`${step}: ${error}`)}>
        {visibleText(error)}
      </span>
    </>
  );
}
