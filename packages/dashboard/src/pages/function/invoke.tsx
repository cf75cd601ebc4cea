// Starts exactly this function with data of one's own, and shows on the spot what was decided.
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { type Answer, ApiError, ask, type Body } from "../../api/client.ts";
import { ActButton, Button } from "../../parts/button.tsx";
import { DataEditor } from "../../parts/data-form/data-editor.tsx";
import { type EventType, useEventTypes } from "../../parts/data-form/event-types.ts";
import { useDataEntry } from "../../parts/data-form/use-data-entry.ts";
import { DecisionWords, runLink } from "../../parts/decision.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { SelectField } from "../../parts/field.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { visibleText } from "../../parts/visible-text.ts";
import { type FunctionInFigures, forgetFunctions } from "../functions/function-data.ts";

type Invoked = Answer<"POST /api/functions/:function/invoke">;
type Given = Body<"POST /api/functions/:function/invoke">["data"];

/** A first guess at the data: the field its key is made of. */
function firstData({ key, suggestedKey }: FunctionInFigures): string {
  const field = /^event\.data\.([A-Za-z_][A-Za-z0-9_]*)$/.exec(key?.expression ?? suggestedKey ?? "")?.[1];
  return field === undefined ? "{}" : `{\n  ${JSON.stringify(field)}: "test-1"\n}`;
}

export function Invoke({ of, onClose }: { readonly of: FunctionInFigures; readonly onClose: () => void }) {
  const { data: types = [], isPending } = useEventTypes(of.function);
  return (
    <Dialog title={`Invoke ${of.id}`} onClose={onClose}>
      {isPending ? (
        <Skeleton rows={4} />
      ) : (
        <InvokeForm of={of} types={types.filter(({ schema }) => schema !== null)} onClose={onClose} />
      )}
    </Dialog>
  );
}

function InvokeForm({
  of,
  types,
  onClose,
}: {
  readonly of: FunctionInFigures;
  /** Events that start it and whose data is described. */
  readonly types: readonly EventType[];
  readonly onClose: () => void;
}) {
  // As its author ordered them, the first that is described.
  const [like, setLike] = useState(() => {
    const named = of.triggers.flatMap((trigger) => ("event" in trigger ? [trigger.event] : []));
    return [...named, ...types.map(({ name }) => name)].find((each) => types.some(({ name }) => name === each)) ?? "";
  });
  const [first] = useState(() => firstData(of));
  const entry = useDataEntry(types.find(({ name }) => name === like)?.schema ?? null, first);
  const [answer, setAnswer] = useState<Invoked | null>(null);
  const [error, setError] = useState<string | null>(null);
  const [isActing, setActing] = useState(false);
  const queries = useQueryClient();
  const invoke = async () => {
    if (entry.tellFirst()) return;
    setActing(true);
    setError(null);
    try {
      setAnswer(
        await ask("POST /api/functions/:function/invoke", {
          params: { function: of.function },
          body: { data: JSON.parse(entry.text) as Given },
        }),
      );
      await forgetFunctions(queries);
    } catch (failure) {
      setError(
        failure instanceof ApiError
          ? [failure.detail, failure.next].filter((each) => each !== null).join(". ")
          : String(failure),
      );
    }
    setActing(false);
  };
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (entry.unreadable === null && !isActing) void invoke();
      }}
    >
      <p className="quiet">
        {of.key === null
          ? "A run starts each time: the function has no key."
          : "Its key holds here too: what asks again with the same value is answered with the first run."}
      </p>
      {types.length > 1 && (
        <SelectField
          label="Fields of the event"
          value={like}
          choices={types.map(({ name }) => ({ value: name, text: name }))}
          onChange={setLike}
        />
      )}
      <DataEditor entry={entry} rows={6} focusFirst />
      {error !== null && (
        <p className="failed" role="alert">
          {error}
        </p>
      )}
      {answer !== null && (
        <div className="invoked" role="status">
          {answer.decisions.map((decision) => (
            <p key={decision.function}>
              <DecisionWords decision={decision} />{" "}
              {decision.runId !== null && (
                <>run {runLink(decision.runId, <span className="mono">{decision.runId.slice(-6)}</span>)}</>
              )}
              {decision.reason !== null && <span className="faint"> {visibleText(decision.reason)}</span>}
            </p>
          ))}
        </div>
      )}
      <div className="button-row is-end">
        <Button onClick={onClose}>{answer === null ? "Not now" : "Close"}</Button>
        <ActButton type="submit" look="primary" disabled={entry.unreadable !== null || isActing}>
          {entry.isTold ? `Start ${of.id} anyway` : answer === null ? `Start ${of.id}` : "Start it again"}
        </ActButton>
      </div>
    </form>
  );
}
