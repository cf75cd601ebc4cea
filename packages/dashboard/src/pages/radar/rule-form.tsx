// A rule is a sentence with blanks; under it, how often it would have alerted.
import { useQueryClient } from "@tanstack/react-query";
import { useId, useState } from "react";
import { ApiError, ask } from "../../api/client.ts";
import { say } from "../../frame/messages.ts";
import { ActButton } from "../../parts/button.tsx";
import { TextField } from "../../parts/field.tsx";
import { type RuleDraft, useFunctions, usePreview, useSuggestion } from "./radar-data.ts";
import { ruleName, withinChoices } from "./rule-words.ts";
import "./rule-form.css";

const empty: RuleDraft = { more: 1, what: "runs", of: "event.data.", within: "60s", function: "" };
const fieldPath = /^event\.data(\.[A-Za-z_][A-Za-z0-9_]*|\["[^"\\]{1,100}"\]){1,4}$/;

export function RuleForm() {
  const [draft, setDraft] = useState(empty);
  const [reason, setReason] = useState("");
  const [error, setError] = useState<string | null>(null);
  const queries = useQueryClient();
  const { data: functions } = useFunctions();
  const { data: suggestion } = useSuggestion(
    draft.function === "" ? (functions?.find(({ key }) => key === null)?.function ?? null) : draft.function,
  );
  const fields = [
    ...new Set([suggestion?.expression, ...(suggestion?.refused.map(({ expression }) => expression) ?? [])]),
  ].flatMap((each) => (each == null || each.includes(" + ") ? [] : [each]));
  const isField = fieldPath.test(draft.of);
  const isNamed = draft.what === "effects" || isField || (draft.of === "key" && draft.what === "runs");
  const isReady = isNamed && draft.more >= 1 && draft.more <= 1_000;
  const change = (some: Partial<RuleDraft>) => setDraft({ ...draft, ...some });
  const make = async () => {
    setError(null);
    try {
      const { function: fn, ...rest } = draft;
      await ask("PUT /api/radar/rules/:rule", {
        params: { rule: ruleName(draft) },
        body: { ...rest, ...(fn === "" ? {} : { function: fn }), reason: reason.trim() },
      });
      say("The rule watches from now on. The audit has it.");
      setDraft(empty);
      setReason("");
      await queries.invalidateQueries({ queryKey: ["radar", "rules"] });
    } catch (failure) {
      setError(failure instanceof ApiError ? `${failure.detail}.` : String(failure));
    }
  };
  const list = useId();
  return (
    <form
      className="card rule-form"
      aria-label="A new rule"
      onSubmit={(event) => {
        event.preventDefault();
        if (isReady && reason.trim() !== "") void make();
      }}
    >
      <p className="blanks">
        Alert when more than
        <input
          type="number"
          min={1}
          max={1_000}
          aria-label="How many"
          value={draft.more}
          onChange={({ target }) => change({ more: Math.trunc(Number(target.value)) })}
        />
        <select
          aria-label="Of what"
          value={draft.what}
          onChange={({ target }) => change(countedBy(target.value as RuleDraft["what"], draft))}
        >
          <option value="runs">{draft.more === 1 ? "run" : "runs"}</option>
          <option value="events">{draft.more === 1 ? "event" : "events"}</option>
          <option value="effects">{draft.more === 1 ? "effect" : "effects"}</option>
        </select>
        {draft.what === "effects" ? (
          <span>for one entity of one destination</span>
        ) : (
          <>
            for one
            <input
              className="field-path mono"
              type="text"
              aria-label="Field, such as event.data.placementId, or key"
              list={list}
              value={draft.of}
              onChange={({ target }) => change({ of: target.value.trim() })}
              spellCheck={false}
              autoComplete="off"
            />
          </>
        )}
        <datalist id={list}>
          {[...fields, ...(draft.what === "runs" ? ["key"] : [])].map((each) => (
            <option key={each} value={each} />
          ))}
        </datalist>
        within
        <select aria-label="Within" value={draft.within} onChange={({ target }) => change({ within: target.value })}>
          {withinChoices.map(({ value, text }) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
        {draft.what === "runs" && (
          <>
            in
            <select
              aria-label="Function"
              value={draft.function}
              onChange={({ target }) => change({ function: target.value })}
            >
              <option value="">every function</option>
              {functions?.map(({ function: fn }) => (
                <option key={fn} value={fn}>
                  {fn}
                </option>
              ))}
            </select>
          </>
        )}
      </p>
      <PreviewLine draft={draft} isReady={isReady} />
      <div className="make">
        <TextField label="Reason" hint="Kept in the audit" value={reason} onChange={setReason} error={error} />
        <ActButton type="submit" look="primary" disabled={!isReady || reason.trim() === ""}>
          Make this rule
        </ActButton>
      </div>
    </form>
  );
}

/** Each counts by things the other lacks: effects have entities, only runs have keys and functions. */
const countedBy = (what: RuleDraft["what"], { of }: RuleDraft): Partial<RuleDraft> =>
  what === "effects"
    ? { what, of: "entity", function: "" }
    : { what, of: of === "entity" || (what === "events" && of === "key") ? empty.of : of, function: "" };

function PreviewLine({ draft, isReady }: { readonly draft: RuleDraft; readonly isReady: boolean }) {
  const { data, error } = usePreview(draft, isReady);
  if (!isReady)
    return (
      <p className="quiet">
        Name a field, such as event.data.placementId{draft.what === "runs" ? ", or key" : ""}: the preview counts how
        often the rule would have alerted.
      </p>
    );
  if (error !== null)
    return (
      <p className="quiet">
        How often it would have alerted is not known: {error instanceof ApiError ? error.detail : String(error)}.
      </p>
    );
  if (data === undefined) return <p className="quiet">Counting how often it would have alerted.</p>;
  return (
    <p className="quiet" role="status">
      It would have alerted <b>{data.count === 1 ? "once" : `${data.count} times`}</b> in {data.days} days
      {data.isAll
        ? ""
        : `, by ${draft.what === "effects" ? `${data.eventCount} of the effects` : `the first ${data.eventCount} events`} of them`}
      {draft.what === "effects" && data.eventCount === 0 && ": no step has recorded an effect yet"}.
    </p>
  );
}
