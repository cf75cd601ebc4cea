// Alerts that were judged: by a person, or because what was wrong is over.
import { Link } from "@tanstack/react-router";
import { ask } from "../../api/client.ts";
import { PageTitle } from "../../frame/page-title.tsx";
import { Empty } from "../../parts/empty.tsx";
import { type KeysetPage, useKeysetList } from "../../parts/keyset-list.ts";
import { List } from "../../parts/list.tsx";
import { Tag } from "../../parts/tag.tsx";
import { Time } from "../../parts/time.tsx";
import { visibleText } from "../../parts/visible-text.ts";
import type { Alert } from "./radar-data.ts";
import { RadarTabs } from "./radar-tabs.tsx";
import "./history-page.css";

const pageRows = 100;
const idOf = ({ id }: Alert): string => id;

async function fetchJudged(before: string | undefined, signal: AbortSignal): Promise<KeysetPage<Alert>> {
  const { alerts, next } = await ask("GET /api/radar/alerts", { query: { before, limit: pageRows }, signal });
  return { rows: alerts.filter(({ state }) => state !== "open"), next };
}

export function Page() {
  const list = useKeysetList({ key: ["radar", "history"], fetchPage: fetchJudged, idOf });
  return (
    <>
      <PageTitle title="Radar history" under={{ to: "/radar", text: "Radar" }}>
        History
      </PageTitle>
      <RadarTabs />
      <div className="alert-history">
        <List
          list={list}
          label="Judged alerts, newest first"
          noun="alerts"
          idOf={idOf}
          head={
            <>
              <span>First</span>
              <span>State</span>
              <span>What</span>
              <span>Who and why</span>
            </>
          }
          row={(alert) => <Row alert={alert} />}
          empty={
            <Empty title="No alert was judged yet">
              <p>
                What was acknowledged, muted or closed is listed here, and what closed by itself because the function
                got a key or nothing came for 7 days.
              </p>
            </Empty>
          }
        />
      </div>
    </>
  );
}

function Row({ alert: { id, firstAt, state, title, judgedBy, judgedAt, note } }: { readonly alert: Alert }) {
  return (
    <>
      <span className="first">
        <Time at={firstAt} />
      </span>
      <span className="state">
        <Tag tone={state === "closed" ? "plain" : "waiting"}>{state}</Tag>
      </span>
      <span className="what">
        <Link className="row-link" to="/radar/alerts/$alert" params={{ alert: id }}>
          {visibleText(title)}
        </Link>
      </span>
      <span className="why quiet">
        <bdi>{visibleText(judgedBy ?? "")}</bdi>
        {judgedAt !== null && (
          <>
            , <Time at={judgedAt} as="ago" />
          </>
        )}
        {note !== null && (
          <>
            : <bdi>{visibleText(note)}</bdi>
          </>
        )}
      </span>
    </>
  );
}
