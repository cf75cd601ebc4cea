// The key one function should have, and the other functions that should have one.
import { Link, useParams } from "@tanstack/react-router";
import { PageTitle } from "../../frame/page-title.tsx";
import { functionLink } from "../../parts/decision.tsx";
import { useAlerts, useFunctionName } from "./radar-data.ts";
import { RadarTabs, useSuggested } from "./radar-tabs.tsx";
import { SuggestionPanel } from "./suggestion-panel.tsx";
import "./suggestion-page.css";

export function Page() {
  const { fn } = useParams({ from: "/radar/suggestions/$fn" });
  const name = useFunctionName(fn);
  const suggested = useSuggested();
  const { data } = useAlerts();
  const alert = data?.alerts.find((each) => each.function === fn && each.line !== null);
  return (
    <>
      <PageTitle title={`A key for ${name}`} under={{ to: "/radar", text: "Radar" }} />
      <RadarTabs />
      {suggested.length > 1 && (
        <nav className="suggested card" aria-label="Functions with a suggestion">
          <ul>
            {suggested.map((each) => (
              <li key={each}>
                <Link to="/radar/suggestions/$fn" params={{ fn: each }} activeProps={{ "aria-current": "page" }}>
                  {each}
                </Link>
              </li>
            ))}
          </ul>
        </nav>
      )}
      <div className="suggestion-page">
        <p className="quiet">From the newest runs of {functionLink(fn)} in the last 7 days, at most 500.</p>
        <SuggestionPanel key={fn} fn={fn} hasKeys />
        {alert !== undefined && (
          <p>
            <Link to="/radar/alerts/$alert" params={{ alert: alert.id }}>
              See what ran twice
            </Link>
          </p>
        )}
      </div>
    </>
  );
}
