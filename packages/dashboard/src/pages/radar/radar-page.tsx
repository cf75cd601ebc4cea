// What needs a person, and what do I change?

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ask } from "../../api/client.ts";
import { PageTitle } from "../../frame/page-title.tsx";
import { Empty } from "../../parts/empty.tsx";
import { ErrorPart } from "../../parts/error-part.tsx";
import { Note } from "../../parts/note.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { Time } from "../../parts/time.tsx";
import { visibleText } from "../../parts/visible-text.ts";
import { AlertAndKey } from "./alert-and-key.tsx";
import { plural } from "./alert-words.ts";
import { type Alert, useAlert, useAlerts, useFunctions, useRules } from "./radar-data.ts";
import { RadarTabs } from "./radar-tabs.tsx";
import "./radar-page.css";

// Each is read with all its pairs; more at once than these are a list.
const cardsMax = 3;

export function Page() {
  const { data, error, refetch } = useAlerts();
  return (
    <>
      <PageTitle title="Radar" />
      <RadarTabs />
      {data === undefined ? (
        <section className="card">
          {error === null ? (
            <Skeleton />
          ) : (
            <ErrorPart error={error} what="The alerts could not be read. Runs go on." onRetry={() => void refetch()} />
          )}
        </section>
      ) : data.alerts.length === 0 ? (
        <NoAlerts />
      ) : (
        <>
          {data.alerts.slice(0, cardsMax).map((alert, i) => (
            <OneAlert key={alert.id} id={alert.id} hasKeys={i === 0} />
          ))}
          <Others alerts={data.alerts.slice(cardsMax)} />
        </>
      )}
    </>
  );
}

function OneAlert({ id, hasKeys }: { readonly id: string; readonly hasKeys: boolean }) {
  const { data, error, refetch } = useAlert(id);
  if (data !== undefined) return <AlertAndKey found={data} hasKeys={hasKeys} />;
  return (
    <section className="card">
      {error === null ? (
        <Skeleton rows={10} />
      ) : (
        <ErrorPart error={error} what="The alert could not be read." onRetry={() => void refetch()} />
      )}
    </section>
  );
}

function Others({ alerts }: { readonly alerts: readonly Alert[] }) {
  if (alerts.length === 0) return null;
  return (
    <section className="card other-alerts" aria-label="Other alerts">
      <ul>
        {alerts.map(({ id, title, lastAt, pairCount }) => (
          <li key={id} className="row">
            <b>{pairCount}</b>
            <Link className="row-link" to="/radar/alerts/$alert" params={{ alert: id }}>
              {visibleText(title)}
            </Link>
            <span className="quiet">
              <Time at={lastAt} as="ago" />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** "Nothing ran twice in 7 days. 5 rules watch 5 functions." */
function NoAlerts() {
  const { data: rules } = useRules();
  const { data: functions } = useFunctions();
  const { data: totals } = useQuery({
    queryKey: ["totals", "radar"],
    queryFn: ({ signal }) => ask("GET /api/totals", { signal }),
    retry: false,
  });
  const active = rules?.filter(({ muted }) => !muted).length ?? 0;
  const watch =
    rules === undefined || functions === undefined
      ? undefined
      : `${active} ${plural("rule", active)} ${active === 1 ? "watches" : "watch"} ${functions.length} ${plural("function", functions.length)}.`;
  if (totals === undefined) return <Skeleton rows={1} />;
  if (functions?.length === 0)
    return (
      <section className="card">
        <Empty title="There is nothing to watch yet">
          <p>Once functions run, what ran twice for one thing is found here by itself.</p>
          <Link className="button is-plain" to="/">
            Connect an app
          </Link>
        </Empty>
      </section>
    );
  return (
    <Note tone="good" title={totals.slipped === 0 ? "Nothing ran twice in 7 days" : "No alert is open"}>
      {watch}
    </Note>
  );
}
