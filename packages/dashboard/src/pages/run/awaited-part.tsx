// The event a run waits for and until when, with the button that sends it.
import { useState } from "react";
import { ask } from "../../api/client.ts";
import { say } from "../../frame/messages.ts";
import { ActButton } from "../../parts/button.tsx";
import { Dialog, FormEnd } from "../../parts/dialog.tsx";
import { TextArea } from "../../parts/field.tsx";
import { Note } from "../../parts/note.tsx";
import { Time } from "../../parts/time.tsx";
import { visibleText } from "../../parts/visible-text.ts";
import { sendEvent } from "../events/event-story.ts";
import { type Awaited, awaitedOf, fittingData } from "./awaited.ts";
import type { RunAnswer } from "./run-data.ts";
import { problemWords } from "./run-queries.ts";

// More than these are found in the timeline.
const shownMax = 3;

export function AwaitedPart({ answer, onSent }: { readonly answer: RunAnswer; readonly onSent: () => void }) {
  const [sending, setSending] = useState<Awaited | null>(null);
  const all = awaitedOf(answer);
  return (
    <>
      {all.slice(0, shownMax).map((awaited) => (
        <Note
          key={awaited.entry.stepId}
          tone="waiting"
          title={
            <>
              Waits for {awaited.kind} <bdi className="mono">{visibleText(awaited.name)}</bdi>
            </>
          }
          actions={
            <ActButton onClick={() => setSending(awaited)}>
              Send {awaited.kind === "event" ? "this event" : "this signal"}
            </ActButton>
          }
        >
          {awaited.condition !== null && (
            <>
              that fulfils <code>{visibleText(awaited.condition)}</code>,{" "}
            </>
          )}
          {awaited.until === null ? (
            "without an end"
          ) : (
            <>
              until <Time at={awaited.until} /> at the latest
            </>
          )}
          , in step {visibleText(awaited.entry.name)}.
        </Note>
      ))}
      {all.length > shownMax && <p className="quiet">And {all.length - shownMax} more waits: see the timeline.</p>}
      {sending !== null && (
        <SendDialog awaited={sending} answer={answer} onClose={() => setSending(null)} onSent={onSent} />
      )}
    </>
  );
}

interface SendDialogProps {
  readonly awaited: Awaited;
  readonly answer: RunAnswer;
  readonly onClose: () => void;
  readonly onSent: () => void;
}

function SendDialog({ awaited, answer, onClose, onSent }: SendDialogProps) {
  const { kind, name, condition } = awaited;
  const [text, setText] = useState(() =>
    JSON.stringify(kind === "event" ? fittingData(condition, answer.events[0]?.data.value) : null, null, 2),
  );
  const [failure, setFailure] = useState<string | null>(null);
  const [isActing, setActing] = useState(false);
  const mistake = mistakeIn(text);
  const send = async () => {
    setActing(true);
    setFailure(null);
    try {
      if (kind === "event") {
        await sendEvent({ name, id: "", data: text });
        say(`Sent event ${visibleText(name)}. It is in the audit.`);
      } else {
        const { runId } = await ask("POST /api/signals", { body: { signal: name, data: JSON.parse(text) } });
        say(
          runId === null
            ? "Nobody waits for this signal any more."
            : `Sent signal ${visibleText(name)}. It is in the audit.`,
        );
      }
      onSent();
      onClose();
    } catch (error) {
      setFailure(problemWords(error));
      setActing(false);
    }
  };
  return (
    <Dialog
      title={
        <>
          Send {kind} {visibleText(name)}
        </>
      }
      onClose={onClose}
      wide
    >
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (mistake === null && !isActing) void send();
        }}
      >
        <p className="quiet">
          {kind === "event"
            ? "Every run that waits for this event and is fulfilled by it goes on, and every function that listens to it starts, as if your code had sent it."
            : "The one run that waits for this signal goes on with the data, as if your code had sent it."}
        </p>
        {condition !== null && (
          <p className="quiet">
            It must fulfil <code>{visibleText(condition)}</code>.
          </p>
        )}
        <TextArea label="Data, as JSON" error={mistake} value={text} onChange={setText} rows={6} mono focusFirst />
        <FormEnd
          error={failure === null ? null : visibleText(failure)}
          isReady={mistake === null && !isActing}
          onClose={onClose}
        >
          Send the {kind}
        </FormEnd>
      </form>
    </Dialog>
  );
}

function mistakeIn(text: string): string | null {
  try {
    JSON.parse(text);
    return null;
  } catch (error) {
    return `This is no JSON yet: ${(error as Error).message}`;
  }
}
