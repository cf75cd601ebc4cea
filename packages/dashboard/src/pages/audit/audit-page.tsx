// Who did what to which thing, when and why.
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { PageTitle } from "../../frame/page-title.tsx";
import { Button } from "../../parts/button.tsx";
import { Empty } from "../../parts/empty.tsx";
import { FilterSelect } from "../../parts/field.tsx";
import { FilterHead } from "../../parts/filter-head.tsx";
import { Icon } from "../../parts/icon.tsx";
import { useKeysetList } from "../../parts/keyset-list.ts";
import { List } from "../../parts/list.tsx";
import { Time } from "../../parts/time.tsx";
import { visibleText } from "../../parts/visible-text.ts";
import { type AuditEntry, type AuditFilter, csvAddress, fetchEntries } from "./audit-entries.ts";
import { actionChoices, actionWords, Subject } from "./audit-words.tsx";
import "./audit.css";

const idOf = ({ id }: AuditEntry): string => id;

export function Page() {
  const filter = useSearch({ from: "/audit" });
  const { q, since, action, actor, subject } = filter;
  const navigate = useNavigate({ from: "/audit" });
  const narrow = (change: AuditFilter) => void navigate({ search: (now) => ({ ...now, ...change }) });
  const list = useKeysetList({
    key: ["audit", q, since, action, actor, subject],
    fetchPage: (before, signal) => fetchEntries({ q, since, action, actor, subject }, before, signal),
    idOf,
  });
  const isFiltered = [q, since, action, actor, subject].some((each) => each !== undefined);
  return (
    <>
      <PageTitle title="Audit" />
      <FilterHead
        since={since}
        onSince={(value) => narrow({ since: value })}
        text={q}
        textLabel="Who, what, which thing or why"
        onText={(value) => void navigate({ search: (now) => ({ ...now, q: value }), replace: true })}
        actions={
          <a
            className="button is-plain"
            href={csvAddress({ q, since, action, actor, subject })}
            download="idem-audit.csv"
          >
            <Icon name="download" />
            Save as CSV
          </a>
        }
      >
        <FilterSelect
          label="Did"
          value={action ?? ""}
          choices={actionChoices}
          onChange={(value) => narrow({ action: value || undefined })}
        />
        {actor !== undefined && <Narrowed label="Who" value={actor} onClear={() => narrow({ actor: undefined })} />}
        {subject !== undefined && (
          <Narrowed label="Thing" value={subject} onClear={() => narrow({ subject: undefined })} />
        )}
      </FilterHead>
      <div className="audit">
        <List
          list={list}
          label="What people did, newest first"
          noun="entries"
          idOf={idOf}
          head={
            <>
              <span>Time</span>
              <span>Who</span>
              <span>Did what</span>
              <span>Reason</span>
            </>
          }
          row={(entry) => <Entry entry={entry} />}
          empty={
            isFiltered ? (
              <Empty title="No entry matches">
                <Button onClick={() => void navigate({ search: {} })}>Clear the filter</Button>
              </Empty>
            ) : (
              <Empty title="Nobody did anything by hand yet">
                <p>What people cancel, rerun, release, pause, mute or change is listed here, with their reason.</p>
              </Empty>
            )
          }
        />
      </div>
    </>
  );
}

interface NarrowedProps {
  readonly label: string;
  readonly value: string;
  readonly onClear: () => void;
}

/** A filter that was chosen from a row, and goes at a click. */
const Narrowed = ({ label, value, onClear }: NarrowedProps) => (
  <button type="button" className="filter is-set" title={visibleText(value)} onClick={onClear}>
    <span>{label}</span>
    <b className="cut">
      <bdi>{visibleText(value)}</bdi>
    </b>
    <Icon name="cross" size={12} />
    <span className="spoken">Show all again</span>
  </button>
);

function Entry({ entry }: { readonly entry: AuditEntry }) {
  const { at, actor, action, reason } = entry;
  return (
    <>
      <span className="time">
        <Time at={at} as="full" />
      </span>
      <span className="who cut" title={visibleText(actor)}>
        {actor === "" ? (
          "somebody"
        ) : (
          <Link from="/audit" to="/audit" search={(now) => ({ ...now, actor })} title="Only what they did">
            <bdi>{visibleText(actor)}</bdi>
          </Link>
        )}
      </span>
      <span className="did">
        {actionWords(action)} <Subject entry={entry} />
      </span>
      <span className="why quiet">
        <bdi>{visibleText(reason)}</bdi>
      </span>
    </>
  );
}
