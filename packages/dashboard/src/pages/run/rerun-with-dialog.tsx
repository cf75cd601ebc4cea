// A rerun with other data than the event's: what differs and what becomes of keys is said before the button is live.
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { ask, getText } from "../../api/client.ts";
import { say } from "../../frame/messages.ts";
import { Dialog, FormEnd } from "../../parts/dialog.tsx";
import { ErrorPart } from "../../parts/error-part.tsx";
import { TextArea } from "../../parts/field.tsx";
import { cutMiddle } from "../../parts/id.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { visibleText } from "../../parts/visible-text.ts";
import { differencesOf } from "../compare/differences.ts";
import { DifferenceList } from "./difference-list.tsx";
import { destinationKeyWords, functionKeyWords } from "./rerun-words.ts";
import type { EffectItem, RunAnswer } from "./run-data.ts";
import { inputPath, problemWords, rerun } from "./run-queries.ts";

interface RerunWithProps {
  readonly answer: RunAnswer;
  readonly effects: readonly EffectItem[];
  readonly onClose: () => void;
}

type Data = Record<string, unknown>;

export function RerunWithDialog(props: RerunWithProps) {
  const { run } = props.answer;
  const { data, error, refetch } = useQuery({
    queryKey: ["payload", inputPath(run.id), false],
    queryFn: ({ signal }) => getText(inputPath(run.id), signal),
    staleTime: Number.POSITIVE_INFINITY,
  });
  return (
    <Dialog title={<>Rerun {visibleText(run.function)} with other data</>} onClose={props.onClose} wide>
      {data !== undefined && <RerunWithForm {...props} given={data} />}
      {data === undefined && error === null && <Skeleton rows={6} />}
      {data === undefined && error !== null && (
        <ErrorPart error={error} what="What it was given could not be read." onRetry={() => void refetch()} />
      )}
    </Dialog>
  );
}

// Typing is not a question yet; a pause is.
const typingMs = 300;

/** The key's fate with this data, asked once the typing pauses; null while it is not known. */
function useKeyPreview(runId: string, text: string, isReadable: boolean) {
  const [asked, setAsked] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setAsked(text), typingMs);
    return () => clearTimeout(timer);
  }, [text]);
  const isCurrent = asked === text && isReadable;
  const { data, error } = useQuery({
    queryKey: ["rerun preview", runId, asked],
    queryFn: ({ signal }) =>
      ask("POST /api/runs/:run/rerun-preview", {
        params: { run: runId },
        body: { data: JSON.parse(asked) as Data },
        signal,
      }),
    enabled: isCurrent,
    retry: false,
  });
  return {
    preview: isCurrent ? (data ?? null) : null,
    refused: isCurrent && error !== null ? problemWords(error) : null,
  };
}

function RerunWithForm({ answer, effects, onClose, given }: RerunWithProps & { readonly given: string }) {
  const { run, event } = answer;
  const navigate = useNavigate();
  const [before] = useState(() => JSON.parse(given) as Data);
  const [text, setText] = useState(() => JSON.stringify(before, null, 2));
  const [isActing, setActing] = useState(false);
  const [failure, setFailure] = useState<string | null>(null);
  const { data, mistake } = readData(text);
  const differs = data !== null && differencesOf(before, data).differing.length > 0;
  const { preview, refused } = useKeyPreview(run.id, text, data !== null && differs);
  const isReady = !isActing && differs && preview !== null && preview.key !== "other";
  const act = async () => {
    setActing(true);
    setFailure(null);
    try {
      const { runId } = await rerun(run.id, { data: data! });
      say(`Started run ${cutMiddle(runId)} with other data. It is in the audit.`);
      onClose();
      await navigate({ to: "/runs/$run", params: { run: runId } });
    } catch (error) {
      setFailure(problemWords(error));
      setActing(false);
    }
  };
  return (
    <form
      className="stack rerun-from"
      onSubmit={(submitted) => {
        submitted.preventDefault();
        if (isReady) void act();
      }}
    >
      <p className="quiet">
        A new run starts from the beginning with this data, for the same event. This run and the event stay as they are.
      </p>
      <TextArea label="Data, as JSON" error={mistake} value={text} onChange={setText} rows={9} mono focusFirst />
      {data !== null && <DifferenceList before={before} after={data} than="what it had" />}
      {differs && (
        <section className="key-words" aria-label="What becomes of keys" aria-live="polite">
          <h3>What becomes of keys</h3>
          <ul>
            {preview === null && refused === null && <li className="faint">Asking for the function's key…</li>}
            {refused !== null && <li className="failed">{visibleText(refused)}</li>}
            {preview !== null && (
              <li className={preview.key === "other" ? "failed" : ""}>
                {visibleText(functionKeyWords(preview))}
                {preview.key === "other" && (
                  <>
                    {" "}
                    <Link to="/events/new" search={{ name: event.name, from: event.internalId }}>
                      Send an event instead
                    </Link>
                  </>
                )}
              </li>
            )}
            {preview !== null &&
              preview.key !== "other" &&
              destinationKeyWords(run, effects, Date.now()).map((each) => <li key={each}>{visibleText(each)}</li>)}
          </ul>
        </section>
      )}
      <FormEnd error={failure === null ? null : visibleText(failure)} isReady={isReady} onClose={onClose}>
        Start a new run with this data
      </FormEnd>
    </form>
  );
}

function readData(text: string): { readonly data: Data | null; readonly mistake: string | null } {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? { data: value as Data, mistake: null }
      : { data: null, mistake: "An event's data is an object: { … }" };
  } catch (error) {
    return { data: null, mistake: `This is no JSON yet: ${(error as Error).message}` };
  }
}
