// Workers of this store: each process with its role, version, heartbeat and what it holds.
import { PageTitle } from "../../frame/page-title.tsx";
import { Empty } from "../../parts/empty.tsx";
import { ErrorPart } from "../../parts/error-part.tsx";
import { Note } from "../../parts/note.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { Table } from "../../parts/table.tsx";
import { Tag } from "../../parts/tag.tsx";
import { Time } from "../../parts/time.tsx";
import { visibleText } from "../../parts/visible-text.ts";
import { counted, numberWords } from "../runs/group-words.ts";
import { nodeName, useWorkers, type Worker } from "./worker-data.ts";

const roleWords = { all: "answers and works", api: "answers requests", worker: "works" } as const;

export function Page() {
  const { data, error, refetch } = useWorkers();
  return (
    <>
      <PageTitle title="Workers" />
      {data !== undefined && data.workers.length > 0 && <Headline workers={data.workers} />}
      <section className="card">
        {error !== null && data === undefined ? (
          <ErrorPart error={error} what="The workers could not be read. Runs go on." onRetry={() => void refetch()} />
        ) : data === undefined ? (
          <Skeleton rows={3} />
        ) : data.workers.length === 0 ? (
          <Empty title="No worker has been here yet">
            <p>Runs stand in line until a process that has their functions takes them up. Nothing is lost meanwhile.</p>
          </Empty>
        ) : (
          <Workers workers={data.workers} />
        )}
      </section>
      {data?.isShared === false && (
        <p className="quiet">One process owns this store, so there is one worker for each environment it opened.</p>
      )}
    </>
  );
}

function Headline({ workers }: { readonly workers: readonly Worker[] }) {
  const silent = workers.filter(({ state }) => state === "silent");
  const alive = workers.filter(({ state }) => state === "alive");
  const leased = alive.reduce((sum, worker) => sum + worker.leased, 0);
  if (silent.length > 0)
    return (
      <Note tone="waiting" title={`${counted(silent.length, "worker has", "workers have")} not been heard of in time`}>
        Whoever sweeps next takes over what it holds, within seconds. Nothing is lost, and nothing runs twice.
      </Note>
    );
  if (alive.length === 0)
    return (
      <Note tone="waiting" title="No worker is there">
        Runs wait, and nothing is lost.
      </Note>
    );
  const versions = new Set(alive.map(({ version }) => version));
  return (
    <Note
      tone="plain"
      title={`${counted(alive.length, "worker holds", "workers hold")} ${leased === 0 ? "no run" : counted(leased, "run")}`}
    >
      {versions.size > 1
        ? `They are of ${versions.size} versions.`
        : alive.length === 1
          ? "It beats in time."
          : "All beat in time."}
    </Note>
  );
}

function Workers({ workers }: { readonly workers: readonly Worker[] }) {
  return (
    <Table
      label="Workers"
      rows={workers}
      idOf={({ id }) => id}
      columns={[
        {
          name: "Node",
          cell: (worker) => (
            <>
              <b>{visibleText(nodeName(worker))}</b>{" "}
              {worker.state !== "alive" && (
                <Tag tone={worker.state === "silent" ? "waiting" : "plain"}>{worker.state}</Tag>
              )}
            </>
          ),
        },
        {
          name: "Role",
          cell: ({ role }) => (role === null ? <span className="faint">not told</span> : roleWords[role]),
        },
        { name: "Version", cell: ({ version }) => visibleText(version ?? "not told") },
        {
          name: "Holds",
          isNumber: true,
          cell: ({ leased }) => (leased === 0 ? <span className="faint">0</span> : numberWords(leased)),
        },
        {
          name: "Last heard of",
          cell: ({ beatAt }) =>
            beatAt === null ? <span className="faint">never</span> : <Time at={beatAt} as="ago" />,
        },
        { name: "Since", cell: ({ startedAt }) => <Time at={startedAt} /> },
      ]}
    />
  );
}
