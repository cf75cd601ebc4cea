// Starts exactly this function with data of one's own, and shows on the spot what was decided.
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError, sendJson } from "../../api/client.ts";
import { ActButton, Button } from "../../parts/button.tsx";
import { type DecisionItem, DecisionWords, runLink } from "../../parts/decision.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Segments, TextArea, TextField } from "../../parts/field.tsx";
import { visibleText } from "../../parts/visible-text.ts";
import { jsonMistake, plainFields, withField } from "../events/json-fields.ts";
import { type FunctionInFigures, forgetFunctions, functionPath } from "../functions/function-data.ts";

interface Invoked {
  readonly eventId: string;
  readonly decisions: readonly DecisionItem[];
}

/** A first guess at the data: the field its key is made of. */
function firstData({ key, suggestedKey }: FunctionInFigures): string {
  const field = /^event\.data\.([A-Za-z_][A-Za-z0-9_]*)$/.exec(key?.expression ?? suggestedKey ?? "")?.[1];
  return field === undefined ? "{}" : `{\n  ${JSON.stringify(field)}: "test-1"\n}`;
}

export function Invoke({ of, onClose }: { readonly of: FunctionInFigures; readonly onClose: () => void }) {
  const [data, setData] = useState(() => firstData(of));
  const [view, setView] = useState("json");
  const [answer, setAnswer] = useState<Invoked | null>(null);
  const [error, setError] = useState<string | null>(null);
  const [isActing, setActing] = useState(false);
  const queries = useQueryClient();
  const mistake = jsonMistake(data);
  const fields = mistake === null ? plainFields(data) : [];
  const invoke = async () => {
    setActing(true);
    setError(null);
    try {
      setAnswer(
        await sendJson<Invoked>("POST", `${functionPath(of.function)}/invoke`, { data: JSON.parse(data) as unknown }),
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
    <Dialog title={`Invoke ${of.id}`} onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (mistake === null && !isActing) void invoke();
        }}
      >
        <p className="quiet">
          {of.key === null
            ? "A run starts each time: the function has no key."
            : "Its key holds here too: what asks again with the same value is answered with the first run."}
        </p>
        <Segments
          label="Data as"
          value={view}
          choices={[
            { value: "json", text: "JSON" },
            { value: "form", text: "Form" },
          ]}
          onChange={setView}
        />
        {view === "json" ? (
          <TextArea label="Data" value={data} onChange={setData} error={mistake} rows={6} mono focusFirst />
        ) : fields.length === 0 ? (
          <p className="quiet">There is no plain field on the first level to fill in. Edit it as JSON.</p>
        ) : (
          fields.map((field) => (
            <TextField
              key={field.name}
              label={field.name}
              value={field.value}
              onChange={(value) => setData(withField(data, field, value))}
            />
          ))
        )}
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
          <ActButton type="submit" look="primary" disabled={mistake !== null || isActing}>
            {answer === null ? `Start ${of.id}` : "Start it again"}
          </ActButton>
        </div>
      </form>
    </Dialog>
  );
}
