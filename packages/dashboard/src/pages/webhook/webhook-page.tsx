// One source: the address to paste at the provider, what was delivered, and what was refused and why.
import { Link, useParams } from "@tanstack/react-router";
import { PageTitle } from "../../frame/page-title.tsx";
import { Copy } from "../../parts/copy.tsx";
import { Empty } from "../../parts/empty.tsx";
import { ErrorPart } from "../../parts/error-part.tsx";
import { Glyph } from "../../parts/glyph.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Id } from "../../parts/id.tsx";
import { Note } from "../../parts/note.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { StateIcon } from "../../parts/state-icon.tsx";
import { Facts, Table } from "../../parts/table.tsx";
import { Time } from "../../parts/time.tsx";
import { lengthWords } from "../../parts/time-words.ts";
import { visibleText } from "../../parts/visible-text.ts";
import {
  type Delivery,
  type DeliveryWords,
  deliveryWords,
  figuresOf,
  keyWords,
  providerName,
  type Source,
  useSource,
} from "../webhooks/source-data.ts";
import { SourceActions } from "./source-actions.tsx";
import "./webhook.css";
import "../webhooks/webhooks.css";

export function Page() {
  const { source: name } = useParams({ from: "/webhooks/$source" });
  const { data, error, refetch } = useSource(name);
  return (
    <>
      <PageTitle title={name} under={{ to: "/webhooks", text: "Webhooks" }} />
      {error !== null && data === undefined ? (
        <section className="card">
          <ErrorPart
            error={error}
            what="The source could not be read. Deliveries are received all the same."
            onRetry={() => void refetch()}
          />
        </section>
      ) : data === undefined ? (
        <section className="card">
          <Skeleton rows={6} />
        </section>
      ) : (
        <>
          <Address source={data.source} />
          <Horizon source={data.source} />
          <About source={data.source} />
          <Deliveries source={data.source} deliveries={data.deliveries} />
        </>
      )}
    </>
  );
}

function Address({ source }: { readonly source: Source }) {
  return (
    <section className="card address">
      <div>
        <h2>Paste this address at {providerName(source.provider)}</h2>
        <p className="url">
          <code>{visibleText(source.url)}</code>
          <Copy text={source.url} what="the address" />
        </p>
      </div>
      <SourceActions source={source} />
    </section>
  );
}

/** A window that is shorter than the provider's retries would let a late one through. */
function Horizon({ source: { provider, windowMs, retriesForMs } }: { readonly source: Source }) {
  const who = providerName(provider);
  const window = lengthWords(windowMs);
  if (retriesForMs === null) return null;
  const retries = lengthWords(retriesForMs);
  if (windowMs < retriesForMs) {
    return (
      <Note
        tone="doubled"
        title={`A late delivery can slip through: ids are known for ${window}, ${who} delivers again for ${retries}`}
      >
        Make the window longer than that.
      </Note>
    );
  }
  return (
    <Note tone="good" title={`${who} delivers again for up to ${retries}; each delivery is known for ${window}`}>
      One that comes again in that time starts nothing.
    </Note>
  );
}

function About({ source }: { readonly source: Source }) {
  const { all, fresh, duplicates, refused } = figuresOf(source);
  return (
    <Facts
      facts={[
        ["Deliveries", all],
        ["New", fresh],
        [
          "Duplicates",
          <span key="duplicates" className="sign-and-words suppressed">
            <Glyph name="suppressed" />
            {duplicates}
          </span>,
        ],
        ["Refused", refused],
        ["Counted since", <Time key="since" at={source.countedSince} as="minute" />],
        ["Known again by", keyWords(source)],
        [source.secrets.length > 1 ? "Secrets, both accepted" : "Secret", <Secrets key="secrets" source={source} />],
        ["Events", <Link key="events" to="/events">{`${source.events ?? source.name}/…`}</Link>],
        ["Other senders", source.allowOtherSenders === true ? "Allowed" : "Refused"],
        ["Added", <Time key="added" at={source.createdAt} />],
      ]}
    />
  );
}

const Secrets = ({ source: { secrets } }: { readonly source: Source }) => (
  <>
    {secrets.map(({ mark, addedAt }) => (
      <span key={mark} className="secret-mark">
        <code>{mark}</code> <span className="quiet">from</span> <Time at={addedAt} />
      </span>
    ))}
  </>
);

function Deliveries({ source, deliveries }: { readonly source: Source; readonly deliveries: readonly Delivery[] }) {
  return (
    <section className="card">
      <header>
        <h2>Newest deliveries</h2>
      </header>
      {deliveries.length === 0 ? (
        <Empty title="Nothing was delivered since this server began">
          <p>Paste the address at {providerName(source.provider)} and send a test delivery from there.</p>
        </Empty>
      ) : (
        <Table
          label="Newest deliveries"
          rows={deliveries.map((delivery, place) => ({ ...delivery, place }))}
          idOf={({ at, place }) => `${at} ${place}`}
          columns={[
            { name: "Time", cell: ({ at }) => <Time at={at} /> },
            { name: "What became of it", cell: (delivery) => <Became delivery={delivery} /> },
            {
              name: "Type",
              cell: ({ type }) =>
                type === null ? <span className="faint">not read</span> : <bdi>{visibleText(type)}</bdi>,
            },
            { name: "Delivery", cell: (delivery) => <DeliveryId source={source} delivery={delivery} /> },
          ]}
        />
      )}
    </section>
  );
}

function DeliveryId({ source, delivery: { id, kind } }: { readonly source: Source; readonly delivery: Delivery }) {
  if (id === null) return <span className="faint">not read</span>;
  // Under a business key the event has an id made from it.
  const isEvent =
    source.key === undefined && (kind === "kept" || kind === "duplicate" || kind === "conflicting-payload");
  const event = `${source.name}:${id}`;
  if (!isEvent) return <Id id={id} of="delivery" chars={24} />;
  return (
    <Id
      id={id}
      of="delivery"
      chars={24}
      link={(text) => (
        <Link to="/events/$event" params={{ event }}>
          {text}
        </Link>
      )}
    />
  );
}

function Became({ delivery }: { readonly delivery: Delivery }) {
  const { glyph, words } = deliveryWords(delivery);
  return (
    <span
      className={`sign-and-words ${glyph === "suppressed" ? "suppressed" : glyph === "failed" ? "failed" : glyph === "waiting" ? "waiting" : ""}`}
    >
      <Sign glyph={glyph} />
      {visibleText(words)}
    </span>
  );
}

function Sign({ glyph }: { readonly glyph: DeliveryWords["glyph"] }) {
  if (glyph === "first" || glyph === "suppressed") return <Glyph name={glyph} />;
  if (glyph === "note") return <Icon name="explain" size={12} />;
  return <StateIcon state={glyph} size={14} words={false} />;
}
