// A rerun from a step: what was recorded before it is kept. With other arguments, what differs is shown before the button is live.
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { ask } from "../../api/client.ts";
import { say } from "../../frame/messages.ts";
import { ActButton, Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { ErrorPart } from "../../parts/error-part.tsx";
import { Segments, TextArea } from "../../parts/field.tsx";
import { cutMiddle } from "../../parts/id.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { visibleText } from "../../parts/visible-text.ts";
import { differencesOf } from "../compare/differences.ts";
import { DifferenceList } from "./difference-list.tsx";
import { rerunSentence } from "./rerun-dialog.tsx";
import { nameOf } from "./rows.ts";
import type { RunDetail, TimelineEntry } from "./run-data.ts";
import { problemWords, rerun } from "./run-queries.ts";
import { count } from "./run-words.ts";

interface RerunFromDialogProps {
  readonly run: RunDetail;
  readonly entry: TimelineEntry;
  readonly onClose: () => void;
}

const choices = [
  { value: "own", text: "Its own" },
  { value: "edited", text: "Others" },
];

export function RerunFromDialog(props: RerunFromDialogProps) {
  const { run, entry, onClose } = props;
  const { input } = entry;
  const isElsewhere = input?.isOmitted === true;
  const { data, error, refetch } = useQuery({
    queryKey: ["arguments", run.id, entry.stepId],
    queryFn: ({ signal }) =>
      ask("GET /api/runs/:run/steps/:step/input", { params: { run: run.id, step: entry.stepId }, signal }),
    enabled: isElsewhere,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const given = isElsewhere ? data : (input?.value ?? null);
  return (
    <Dialog title={<>Rerun from {visibleText(nameOf(entry))}</>} onClose={onClose} wide>
      {given !== undefined && <RerunFromForm {...props} given={Array.isArray(given) ? given : null} />}
      {given === undefined && error === null && <Skeleton rows={6} />}
      {given === undefined && error !== null && (
        <ErrorPart error={error} what="What it was given could not be read." onRetry={() => void refetch()} />
      )}
    </Dialog>
  );
}

/** `given` is what it was called with; null for nothing. */
function RerunFromForm({
  run,
  entry,
  onClose,
  given,
}: RerunFromDialogProps & { readonly given: readonly unknown[] | null }) {
  const navigate = useNavigate();
  const [choice, setChoice] = useState("own");
  const [text, setText] = useState(() => JSON.stringify(given ?? [], null, 2));
  const [isActing, setActing] = useState(false);
  const [failure, setFailure] = useState<string | null>(null);
  const read = readArguments(text);
  const isEdited = choice === "edited";
  const differs = read.input !== null && differencesOf(given ?? [], read.input).differing.length > 0;
  const isReady = !isActing && (!isEdited || differs);
  const act = async () => {
    setActing(true);
    setFailure(null);
    try {
      const { runId } = await rerun(run.id, { fromStep: entry.stepId, ...(isEdited ? { input: read.input! } : {}) });
      say(`Started run ${cutMiddle(runId)} from step ${visibleText(nameOf(entry))}. It is in the audit.`);
      onClose();
      await navigate({ to: "/runs/$run", params: { run: runId } });
    } catch (error) {
      setFailure(problemWords(error));
      setActing(false);
    }
  };
  const kept = run.timeline.findIndex(({ stepId }) => stepId === entry.stepId);
  return (
    <form
      className="stack rerun-from"
      onSubmit={(event) => {
        event.preventDefault();
        if (isReady) void act();
      }}
    >
      <p className="quiet">
        {rerunSentence}{" "}
        {kept > 0 ? `${count(kept, "outcome")} recorded before this step ${kept === 1 ? "is" : "are"} kept; it` : "It"}{" "}
        and everything recorded after it run again.
      </p>
      {entry.kind === "run" && <Segments label="Arguments" value={choice} onChange={setChoice} choices={choices} />}
      {isEdited && (
        <>
          <TextArea
            label="Arguments for the step's code, a JSON list"
            hint={argumentsHint(entry, given)}
            error={read.error}
            value={text}
            onChange={setText}
            rows={8}
            mono
            focusFirst
          />
          {read.input !== null && (
            <DifferenceList
              before={given ?? []}
              after={read.input}
              than={given === null ? "no arguments" : "what it had"}
            />
          )}
        </>
      )}
      {failure !== null && (
        <p className="failed" role="alert">
          {visibleText(failure)}
        </p>
      )}
      <div className="button-row is-end">
        <Button onClick={onClose}>Not now</Button>
        <ActButton type="submit" look="primary" disabled={!isReady}>
          Start a new run from here
        </ActButton>
      </div>
    </form>
  );
}

function argumentsHint({ input }: TimelineEntry, given: readonly unknown[] | null): string {
  if (given !== null) return "As they were given the last time.";
  if (input !== null && input.lost !== null)
    return `They were not kept: write all of them. ${visibleText(input.lost)}.`;
  return "It was given none. A step whose code hands it none fails when it is given some.";
}

function readArguments(text: string): { readonly input: readonly unknown[] | null; readonly error: string | null } {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value)
      ? { input: value, error: null }
      : { input: null, error: "This must be a list: [first, second, …]" };
  } catch (error) {
    return { input: null, error: `This is no JSON yet: ${(error as Error).message}` };
  }
}
