// Providers' deliveries, taken and refused. Did it arrive, was it genuine, was it new?
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useStatus } from "../../api/status.ts";
import { PageTitle } from "../../frame/page-title.tsx";
import { useKeys } from "../../keys.ts";
import { ActButton } from "../../parts/button.tsx";
import { Empty } from "../../parts/empty.tsx";
import { ErrorPart } from "../../parts/error-part.tsx";
import { Glyph } from "../../parts/glyph.tsx";
import { Note } from "../../parts/note.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { StateIcon } from "../../parts/state-icon.tsx";
import { Table } from "../../parts/table.tsx";
import { Time } from "../../parts/time.tsx";
import { AddSource } from "./add-source.tsx";
import { figuresOf, keyWords, type Provider, providerName, providers, type Source, useSources } from "./source-data.ts";
import "../../parts/list.css";
import "./webhooks.css";

export function Page() {
  const { data, error, refetch } = useSources();
  const { data: status } = useStatus();
  // Until it is known nothing is offered that might be refused.
  const mayAdd = status?.isMounted === false;
  const [adding, setAdding] = useState<Provider["id"] | null>(null);
  useKeys(mayAdd ? [{ keys: "n", words: "Add a source", run: () => setAdding(providers[0]!.id) }] : []);
  return (
    <>
      <PageTitle title="Webhooks" />
      {data !== undefined && data.length > 0 && (
        <Headline sources={data} onAdd={mayAdd ? () => setAdding(providers[0]!.id) : null} />
      )}
      <section className="card sources">
        {error !== null && data === undefined ? (
          <ErrorPart
            error={error}
            what="The sources could not be read. Deliveries are received all the same."
            onRetry={() => void refetch()}
          />
        ) : data === undefined ? (
          <Skeleton rows={3} />
        ) : data.length === 0 ? (
          <NoSource onPick={mayAdd ? setAdding : null} />
        ) : (
          <Sources sources={data} />
        )}
      </section>
      {adding !== null && <AddSource first={adding} onClose={() => setAdding(null)} />}
    </>
  );
}

function Headline({ sources, onAdd }: { readonly sources: readonly Source[]; readonly onAdd: (() => void) | null }) {
  const all = sources.map(figuresOf);
  const total = (pick: (figures: (typeof all)[number]) => number) => all.reduce((sum, each) => sum + pick(each), 0);
  const [deliveries, duplicates, refused] = [
    total(({ all: count }) => count),
    total(({ duplicates: count }) => count),
    total(({ refused: count }) => count),
  ];
  const since = Math.max(...sources.map(({ countedSince }) => countedSince));
  const add = onAdd === null ? null : <ActButton onClick={onAdd}>Add a source</ActButton>;
  const counted = (
    <>
      Counted by this server since <Time at={since} />.{onAdd === null ? ` ${onlyServers}` : ""}
    </>
  );
  if (refused > 0) {
    return (
      <Note
        tone="failed"
        title={`${refused} ${refused === 1 ? "delivery was" : "deliveries were"} refused`}
        actions={add}
      >
        Nothing of them was stored. {counted}
      </Note>
    );
  }
  const title =
    deliveries === 0
      ? "Nothing was delivered yet"
      : `Every delivery was genuine. ${duplicates} of ${deliveries} ${duplicates === 1 ? "was" : "were"} known already`;
  return (
    <Note tone={deliveries === 0 ? "plain" : "good"} title={title} actions={add}>
      {counted}
    </Note>
  );
}

function Sources({ sources }: { readonly sources: readonly Source[] }) {
  return (
    <Table
      label="Sources of webhooks"
      rows={sources}
      idOf={({ name }) => name}
      tone={() => "row"}
      columns={[
        {
          name: "Source",
          cell: ({ name, provider }) => (
            <span>
              <Link className="row-link" to="/webhooks/$source" params={{ source: name }}>
                <b>{name}</b>
              </Link>{" "}
              {provider !== name && <span className="quiet">{providerName(provider)}</span>}
            </span>
          ),
        },
        { name: "Deliveries 24 h", isNumber: true, cell: (source) => figuresOf(source).all },
        { name: "New", isNumber: true, cell: (source) => figuresOf(source).fresh },
        { name: "Duplicates", isNumber: true, cell: (source) => <Count count={figuresOf(source).duplicates} /> },
        { name: "Refused", cell: (source) => <Refused source={source} /> },
        { name: "Key", cell: (source) => <span className="quiet">{keyWords(source)}</span> },
        {
          name: "Last",
          cell: ({ lastAt }) =>
            lastAt === null ? <span className="faint">never</span> : <Time at={lastAt} as="ago" />,
        },
      ]}
    />
  );
}

const Count = ({ count }: { readonly count: number }) =>
  count === 0 ? (
    <span className="faint">0</span>
  ) : (
    <span className="suppressed sign-and-words">
      <Glyph name="suppressed" />
      {count}
    </span>
  );

function Refused({ source }: { readonly source: Source }) {
  const { refused, quarantined, unavailable } = figuresOf(source);
  const parts = [
    refused > 0 ? `${refused} refused` : "",
    quarantined > 0 ? `${quarantined} unreadable` : "",
    unavailable > 0 ? `${unavailable} not kept` : "",
  ].filter((part) => part !== "");
  if (parts.length === 0) return <span className="faint">0</span>;
  return (
    <span className="failed sign-and-words">
      <StateIcon state="failed" size={14} words={false} />
      {parts.join(", ")}
    </span>
  );
}

const line = `app.post("/hooks/stripe", webhook({ source: "stripe", provider: stripe({ secrets: [secret] }), idem }));`;

const onlyServers = "Sources have addresses of an Idem server, which this application is not.";

/** `onPick`: null beside an application's own engine, where a provider would find no address to deliver to. */
const NoSource = ({ onPick }: { readonly onPick: ((provider: Provider["id"]) => void) | null }) =>
  onPick === null ? (
    <Empty title="No source is received here">
      <p>
        {onlyServers} Receive webhooks in the application itself with this line, and see them under Events; or run{" "}
        <code>idem start</code> over the same store.
      </p>
      <pre>{line}</pre>
    </Empty>
  ) : (
    <Empty title="No source yet: pick a provider">
      <div className="pick">
        {providers.map(({ id, name }) => (
          <ActButton key={id} onClick={() => onPick(id)}>
            {name}
          </ActButton>
        ))}
      </div>
      <p>Or receive webhooks in your own app with this line; those are listed under Events:</p>
      <pre>{line}</pre>
    </Empty>
  );
