// An alert, and beside it the way out: the key its function should have, and the rule that raised it.
import { Link } from "@tanstack/react-router";
import { visibleText } from "../../parts/visible-text.ts";
import { AlertCard } from "./alert-card.tsx";
import { isTwice } from "./alert-words.ts";
import { type AlertWithPairs, useFunctionName, useRules } from "./radar-data.ts";
import { withinWords } from "./rule-words.ts";
import { SuggestionPanel } from "./suggestion-panel.tsx";
import "./alert-and-key.css";

interface AlertAndKeyProps {
  readonly found: AlertWithPairs;
  readonly isWhole?: boolean;
  readonly hasKeys?: boolean;
}

export function AlertAndKey({ found, isWhole = false, hasKeys = false }: AlertAndKeyProps) {
  const { alert } = found;
  const hasSuggestion = alert.function !== null && (alert.kind === "doubled-runs" || alert.kind === "maybe-doubled");
  return (
    <div className={`radar-columns${hasSuggestion ? "" : " is-one"}`}>
      <AlertCard found={found} isWhole={isWhole} hasKeys={hasKeys} />
      {hasSuggestion && (
        <div className="beside">
          <SuggestionPanel fn={alert.function} hasKeys={hasKeys} />
          {isTwice(alert) && <RuleCard fn={alert.function} />}
        </div>
      )}
    </div>
  );
}

function RuleCard({ fn }: { readonly fn: string }) {
  const { data } = useRules();
  const name = useFunctionName(fn);
  const rule = data?.[0];
  if (rule === undefined) return null;
  return (
    <section className="card rule-card" aria-label={`The rule that raised the alert of ${visibleText(name)}`}>
      <p>
        <Link to="/radar/rules">
          <b>Rule</b>
        </Link>
        <span className="quiet">{rule.muted ? "muted" : "on, every function"}</span>
      </p>
      <p className="quiet">
        More than {rule.more} {rule.more === 1 ? "run" : "runs"} for the same entity within {withinWords(rule.withinMs)}
        .
      </p>
    </section>
  );
}
