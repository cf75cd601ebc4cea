// Every claim of every layer. Who holds this key, until when, how often was it asked for?
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { keyLayers, layers } from "../../../../idem/src/server/api/key-layers.ts";
import { ask } from "../../api/client.ts";
import { useStatus } from "../../api/status.ts";
import { PageTitle } from "../../frame/page-title.tsx";
import { useKeys } from "../../keys.ts";
import { hasPage } from "../../pages.ts";
import { functionLink } from "../../parts/decision.tsx";
import { Empty } from "../../parts/empty.tsx";
import { FilterSelect, Filters, FilterText, Segments } from "../../parts/field.tsx";
import { cutMiddle } from "../../parts/id.tsx";
import { useKeysetList } from "../../parts/keyset-list.ts";
import { List } from "../../parts/list.tsx";
import { Tag } from "../../parts/tag.tsx";
import { Time } from "../../parts/time.tsx";
import { visibleText } from "../../parts/visible-text.ts";
import { WindowBar, windowOf } from "../../parts/window-bar.tsx";
import { claimName } from "./claim-name.ts";
import { KeyHolder } from "./key-holder.tsx";
import { type KeyItem, keyWords, layerWords, rateOf, scopeWords } from "./key-words.ts";
import "./keys.css";

const idOf = ({ scope, key }: KeyItem): string => `${scope} ${key}`;
const pageRows = 100;
// An ordered list is one page; more than this nobody reads to its end.
const orderedRows = 500;

const layerChoices = [
  { value: "", text: "all" },
  ...keyLayers.map((layer) => ({ value: layer, text: layers[layer].words })),
] as const;

export function Page() {
  const { scope, layer, q, order = "hits" } = useSearch({ from: "/keys" });
  const navigate = useNavigate({ from: "/keys" });
  const list = useKeysetList({
    key: ["keys", scope, layer, q, order],
    fetchPage: async (before, signal) => {
      const asked = order === "key" ? { limit: pageRows } : { order, limit: orderedRows };
      const { keys, next } = await ask("GET /api/keys", {
        query: { scope, layer: scope === undefined ? layer : undefined, q, before, ...asked },
        signal,
      });
      // The next page would be in an order of its own.
      return { rows: keys, next: order === "key" ? next : null };
    },
    idOf,
    isNewestFirst: false,
  });
  useKeys([{ keys: "f", words: "Filter", run: () => document.getElementById("keys-filter")?.focus() }]);
  const isFiltered = scope !== undefined || layer !== undefined || q !== undefined;
  return (
    <>
      <PageTitle title="Keys" />
      <Filters>
        <Segments
          label="Order by"
          value={order}
          choices={[
            { value: "hits", text: "Asked again" },
            { value: "ends", text: "Ends next" },
            { value: "key", text: "Key" },
          ]}
          onChange={(value) =>
            void navigate({
              search: (now) => ({ ...now, order: value === "hits" ? undefined : (value as typeof order) }),
            })
          }
        />
        <FilterSelect
          label="Layer"
          value={layer ?? ""}
          choices={layerChoices}
          onChange={(value) =>
            void navigate({
              search: (now) => ({ ...now, scope: undefined, layer: (value || undefined) as typeof layer }),
            })
          }
        />
        <ScopeFilter
          scope={scope}
          onChange={(value) =>
            void navigate({ search: (now) => ({ ...now, layer: undefined, scope: value || undefined }) })
          }
        />
        <FilterText
          fieldId="keys-filter"
          label="Part of a key"
          value={q ?? ""}
          onChange={(value) => void navigate({ search: (now) => ({ ...now, q: value || undefined }), replace: true })}
        />
      </Filters>
      {order !== "key" && list.rows.length === orderedRows && (
        <p className="quiet">These are {orderedRows} of more. Order by key to see all of them.</p>
      )}
      <div className="keys">
        <List
          list={list}
          label="Keys"
          noun="keys"
          idOf={idOf}
          head={
            <>
              <span>Layer</span>
              <span>Scope</span>
              <span>Key</span>
              <span>Holder</span>
              <span className="asked">Asked again</span>
              <span>Claimed</span>
              <span>Window</span>
            </>
          }
          row={(item) => <Line item={item} />}
          empty={isFiltered ? <NoMatch clear={() => void navigate({ search: {} })} /> : <NoKeys />}
        />
      </div>
    </>
  );
}

function ScopeFilter({
  scope,
  onChange,
}: {
  readonly scope: string | undefined;
  readonly onChange: (value: string) => void;
}) {
  const { data } = useQuery({
    queryKey: ["functions"],
    queryFn: ({ signal }) => ask("GET /api/functions", { signal }),
    staleTime: 30_000,
  });
  const keyed = (data?.functions ?? [])
    .filter(({ key }) => key !== null)
    .map((each) => ({ value: `fn:${each.function}`, text: each.function }));
  return (
    <FilterSelect
      label="Function"
      value={scope ?? ""}
      choices={[{ value: "", text: "all" }, ...keyed]}
      onChange={onChange}
    />
  );
}

function Line({ item }: { readonly item: KeyItem }) {
  const again = item.askedCount - 1;
  const rate = rateOf(item);
  return (
    <>
      <span className="layer quiet cut">{layerWords(item)}</span>
      <span className="scope cut">
        {item.function === null ? <bdi>{visibleText(scopeWords(item))}</bdi> : functionLink(item.function)}
      </span>
      <span className="key cut">
        <Link className="row-link" to="/keys/$claim" params={{ claim: claimName(item) }}>
          <bdi className="mono" title={visibleText(keyWords(item))}>
            {visibleText(cutMiddle(keyWords(item), 22))}
          </bdi>
        </Link>
      </span>
      <KeyHolder item={item} />
      <span className={`asked ${again > 0 ? "suppressed" : "faint"}`}>
        {again}
        {rate !== null && <Tag tone="waiting">{rate} a minute</Tag>}
      </span>
      <span className="claimed">
        <Time at={item.takenAt} as="list" />
      </span>
      <WindowBar
        window={item.isHeld ? { kind: "until-finished" } : windowOf(item.takenAt, item.windowEndsAt)}
        released={item.state === "released"}
      />
    </>
  );
}

const NoMatch = ({ clear }: { readonly clear: () => void }) => (
  <Empty title="No key matches">
    <button type="button" className="button is-plain" onClick={clear}>
      Clear the filter
    </button>
  </Empty>
);

function NoKeys() {
  const { data } = useStatus();
  const count = data?.functions.withoutKey ?? 0;
  return (
    <Empty title="No key is held">
      <p>
        What takes one is listed here until its window ends: events with an id, functions with a key, requests and
        webhooks.
      </p>
      {count > 0 && (
        <p>
          Functions without a key: {count}
          {hasPage("/functions") && (
            <>
              {" "}
              (
              <Link to="/functions" search={{ key: "missing" }}>
                see {count === 1 ? "it" : "them"}
              </Link>
              )
            </>
          )}
        </p>
      )}
    </Empty>
  );
}
