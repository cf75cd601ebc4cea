// The key a function should have: the line in its place, the evidence in sentences, and why other fields will not do.
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ask } from "../../api/client.ts";
import { say } from "../../frame/messages.ts";
import { useKeys } from "../../keys.ts";
import { ActButton, Button } from "../../parts/button.tsx";
import { copyText } from "../../parts/copy.tsx";
import { AskFirst } from "../../parts/dialog.tsx";
import { ErrorPart } from "../../parts/error-part.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { StateIcon } from "../../parts/state-icon.tsx";
import { visibleText } from "../../parts/visible-text.ts";
import { type Suggestion, useFunctionName, useSuggestion } from "./radar-data.ts";
import { doubtsOf } from "./suggestion-words.ts";
import "./suggestion-panel.css";

interface SuggestionPanelProps {
  readonly fn: string;
  readonly hasKeys?: boolean;
}

export function SuggestionPanel({ fn, hasKeys = false }: SuggestionPanelProps) {
  const [copied, setCopied] = useState<string | null>(null);
  const { data, error, refetch } = useSuggestion(fn, copied !== null);
  const id = useFunctionName(fn);
  return (
    <section className="card suggestion" aria-label={`A key for ${id}`}>
      <div className="inner">
        <h2>{data?.keyExpression != null ? "This function has a key" : "Give this function a key"}</h2>
        {error !== null && data === undefined ? (
          <ErrorPart error={error} what="The suggestion could not be made." onRetry={() => void refetch()} />
        ) : data === undefined ? (
          <Skeleton rows={4} />
        ) : data.keyExpression !== null ? (
          <p className="evidence-line">
            <StateIcon state="completed" words={false} />
            <span>
              Live: <code>{visibleText(data.keyExpression)}</code>. What comes again within its window is answered with
              the first run.
            </span>
          </p>
        ) : data.line === null || doubtsOf(data).length > 0 ? (
          <NoSuggestion suggestion={data} />
        ) : (
          <Offer
            key={data.line}
            id={id}
            line={data.line}
            suggestion={data}
            hasKeys={hasKeys}
            isCopied={copied === data.line}
            onCopied={() => setCopied(data.line)}
          />
        )}
      </div>
      {data !== undefined && data.keyExpression === null && (
        <>
          <Refused suggestion={data} />
          <LeftOut suggestion={data} />
        </>
      )}
    </section>
  );
}

interface OfferProps {
  readonly id: string;
  readonly line: string;
  readonly suggestion: Suggestion;
  readonly hasKeys: boolean;
  readonly isCopied: boolean;
  readonly onCopied: () => void;
}

function Offer({ id, line, suggestion, hasKeys, isCopied, onCopied }: OfferProps) {
  const [isAsking, setAsking] = useState(false);
  const judge = useJudgeKey(suggestion.function);
  const copy = async () => {
    const done = await copyText(line);
    say(done ? "Copied the line" : "This browser did not let the page copy. Select the line instead.", { brief: true });
    if (done) onCopied();
  };
  useKeys(hasKeys ? [{ keys: "y", words: "Copy the line", run: () => void copy() }] : []);
  return (
    <>
      <p className="quiet">Paste one line and deploy. Open runs are not touched.</p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a line that is wider than the card is scrolled with the arrow keys */}
      <pre className="code" tabIndex={0}>
        <span>createFunction({"{"}</span>
        <span>{`  id: ${JSON.stringify(visibleText(id))},`}</span>
        <span className="add">+ {visibleText(line)}</span>
        <span>{"}, …"}</span>
      </pre>
      <div className="button-row">
        <Button look="primary" onClick={() => void copy()}>
          <Icon name={isCopied ? "check" : "copy"} />
          Copy the line
        </Button>
        <ActButton onClick={() => setAsking(true)}>Not this one</ActButton>
      </div>
      {isCopied && (
        <p className="waiting-for" role="status">
          <StateIcon state="waiting" words={false} />
          Waiting for the function to register with this key…
        </p>
      )}
      <Meter suggestion={suggestion} />
      <ul className="evidence">
        {suggestion.evidence.map((sentence) => (
          <li key={sentence}>
            <StateIcon state="completed" words={false} />
            <span>{visibleText(sentence)}</span>
          </li>
        ))}
      </ul>
      {isAsking && (
        <AskFirst
          title="Not this key"
          action="Leave this key out"
          reason="demanded"
          onAct={async (reason) => {
            const { expression } = await judge("refuse", suggestion.expression!, reason);
            say(`It is not offered again${expression === null ? "" : "; the next best is"}. The audit has it.`);
          }}
          onClose={() => setAsking(false)}
        >
          <p>
            {visibleText(suggestion.expression!)} is not offered again for this function, here and by idem doctor, and
            the next best is. Alerts and the function stay as they are.
          </p>
        </AskFirst>
      )}
    </>
  );
}

/** Says no to a key, or takes that back; the answer is the suggestion that is left. */
function useJudgeKey(fn: string) {
  const queries = useQueryClient();
  return async (verb: "refuse" | "restore", expression: string, reason: string): Promise<Suggestion> => {
    const body = { expression, reason };
    const left = await ask(`POST /api/radar/suggestions/:function/${verb}`, { params: { function: fn }, body });
    queries.setQueryData(["radar", "suggestion", fn], left);
    return left;
  };
}

function Meter({ suggestion: { runCount, suppressedCount } }: { readonly suggestion: Suggestion }) {
  const would = runCount - suppressedCount;
  return (
    <>
      <div
        className="meter"
        role="img"
        aria-label={`${suppressedCount} of ${runCount} runs would have been suppressed`}
      >
        <span className="ran" style={{ width: `${(would / Math.max(1, runCount)) * 100}%` }} />
        <span className="stopped" style={{ width: `${(suppressedCount / Math.max(1, runCount)) * 100}%` }} />
      </div>
      <p className="meter-words">
        <span>{would} would run</span>
        <b className="suppressed">{suppressedCount} suppressed</b>
      </p>
    </>
  );
}

function NoSuggestion({ suggestion }: { readonly suggestion: Suggestion }) {
  const doubts = doubtsOf(suggestion);
  if (doubts.length === 0)
    return (
      <p className="quiet">
        {suggestion.leftOut.length > 0
          ? "No other field of its events would have kept the doubles out without suppressing something else. Write a key of your own: any expression over the event will do."
          : "Nothing ran twice in 7 days, or no field of its events tells what is the same. There is no suggestion."}
      </p>
    );
  return (
    <>
      {doubts.map((doubt) => (
        <p key={doubt} className="evidence-line">
          <StateIcon state="failed" words={false} />
          <span>{visibleText(doubt)}</span>
        </p>
      ))}
      <p className="quiet">So there is no suggestion.</p>
    </>
  );
}

/** Fields people refused as a key, with their reason: taken back, one may be offered again. */
function LeftOut({ suggestion }: { readonly suggestion: Suggestion }) {
  const [asked, setAsked] = useState<string | null>(null);
  const judge = useJudgeKey(suggestion.function);
  if (suggestion.leftOut.length === 0) return null;
  return (
    <>
      <ul className="refused" aria-label="Fields that somebody refused">
        {suggestion.leftOut.map(({ expression, reason, by }) => (
          <li key={expression}>
            <bdi className="mono cut" title={visibleText(expression)}>
              {visibleText(expression)}
            </bdi>
            <ActButton small onClick={() => setAsked(expression)}>
              Offer it again
            </ActButton>
            <span className="why">
              Refused by <bdi>{visibleText(by)}</bdi>: <bdi>{visibleText(reason)}</bdi>
            </span>
          </li>
        ))}
      </ul>
      {asked !== null && (
        <AskFirst
          title="Offer this key again"
          action="Offer it again"
          reason="demanded"
          onAct={async (reason) => {
            await judge("restore", asked, reason);
            say("It may be offered again. The audit has it.");
          }}
          onClose={() => setAsked(null)}
        >
          <p>{visibleText(asked)} is suggested again if it is still the best. Nothing else changes.</p>
        </AskFirst>
      )}
    </>
  );
}

const whyWords = {
  "too-wide": ["too wide", "failed", "Would also suppress runs about something else."],
  "too-narrow": ["too narrow", "waiting", "Is new in every run: would have suppressed none."],
  "not-always-there": ["not always there", "waiting", "Fewer than half of the events carry it."],
} as const;

function Refused({ suggestion: { refused } }: { readonly suggestion: Suggestion }) {
  if (refused.length === 0) return null;
  return (
    <ul className="refused" aria-label="Fields that will not do">
      {refused.map(({ expression, why }) => {
        const [name, tone, words] = whyWords[why];
        return (
          <li key={expression}>
            <bdi className="mono cut" title={visibleText(expression)}>
              {visibleText(expression)}
            </bdi>
            <b className={`nowrap ${tone}`}>{name}</b>
            <span className="why">{words}</span>
          </li>
        );
      })}
    </ul>
  );
}
