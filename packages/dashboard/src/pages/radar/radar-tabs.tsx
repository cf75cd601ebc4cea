// The radar's four views, with how much is in each.
import { Link } from "@tanstack/react-router";
import { useAlerts, useRules } from "./radar-data.ts";
import "./radar-tabs.css";

/** Functions whose alerts come with a line to paste. */
export function useSuggested(): readonly string[] {
  const { data } = useAlerts();
  return [...new Set(data?.alerts.flatMap(({ function: fn, line }) => (fn === null || line === null ? [] : [fn])))];
}

export function RadarTabs() {
  const { data: alerts } = useAlerts();
  const { data: rules } = useRules();
  const suggested = useSuggested();
  const [first] = suggested;
  return (
    <nav className="radar-tabs" aria-label="Radar">
      <Link to="/radar" activeOptions={{ exact: true }} activeProps={{ "aria-current": "page" }}>
        Alerts{alerts !== undefined && <span className="count">{alerts.openCount} open</span>}
      </Link>
      {first === undefined ? (
        <span className="faint">
          Suggestions<span className="count">0</span>
        </span>
      ) : (
        <Link to="/radar/suggestions/$fn" params={{ fn: first }} activeProps={{ "aria-current": "page" }}>
          Suggestions<span className="count">{suggested.length}</span>
        </Link>
      )}
      <Link to="/radar/rules" activeProps={{ "aria-current": "page" }}>
        Rules{rules !== undefined && <span className="count">{rules.length}</span>}
      </Link>
      <Link to="/radar/history" activeProps={{ "aria-current": "page" }}>
        History
      </Link>
    </nav>
  );
}
