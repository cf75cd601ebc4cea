// Who did what to which thing, when and why.
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { say } from "../../frame/messages.ts";
import { PageTitle } from "../../frame/page-title.tsx";
import { useKeys } from "../../keys.ts";
import { Button } from "../../parts/button.tsx";
import { Empty } from "../../parts/empty.tsx";
import { FilterSelect, Filters, FilterText } from "../../parts/field.tsx";
import { Icon } from "../../parts/icon.tsx";
import { useKeysetList } from "../../parts/keyset-list.ts";
import { List } from "../../parts/list.tsx";
import { Time } from "../../parts/time.tsx";
import { timeChoices } from "../../parts/time-choices.ts";
import { visibleText } from "../../parts/visible-text.ts";
import { type AuditEntry, entriesAsCsv, fetchEntries } from "./audit-entries.ts";
import { actionWords, Subject } from "./audit-words.tsx";
import "./audit.css";

const idOf = ({ id }: AuditEntry): string => id;

export function Page() {
  const { q, since } = useSearch({ from: "/audit" });
  const navigate = useNavigate({ from: "/audit" });
  const list = useKeysetList({
    key: ["audit", q, since],
    fetchPage: (before, signal) => fetchEntries({ q, since }, before, signal),
    idOf,
  });
  useKeys([{ keys: "f", words: "Filter", run: () => document.getElementById("audit-filter")?.focus() }]);
  const isFiltered = q !== undefined || since !== undefined;
  return (
    <>
      <PageTitle title="Audit" />
      <div className="audit-bar">
        <Filters>
          <FilterSelect
            label="Time"
            value={since ?? ""}
            choices={timeChoices}
            onChange={(value) => void navigate({ search: (now) => ({ ...now, since: value || undefined }) })}
          />
          <FilterText
            fieldId="audit-filter"
            label="Who, what, which thing or why"
            value={q ?? ""}
            onChange={(value) => void navigate({ search: (now) => ({ ...now, q: value || undefined }), replace: true })}
          />
        </Filters>
        <SaveCsv filter={{ q, since }} />
      </div>
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

function Entry({ entry }: { readonly entry: AuditEntry }) {
  const { at, actor, action, reason } = entry;
  return (
    <>
      <span className="time">
        <Time at={at} as="full" />
      </span>
      <span className="who cut" title={visibleText(actor)}>
        <bdi>{actor === "" ? "somebody" : visibleText(actor)}</bdi>
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

function SaveCsv({
  filter,
}: {
  readonly filter: { readonly q: string | undefined; readonly since: string | undefined };
}) {
  const [isBusy, setBusy] = useState(false);
  const save = async () => {
    setBusy(true);
    try {
      const url = URL.createObjectURL(new Blob([await entriesAsCsv(filter)], { type: "text/csv" }));
      const link = document.createElement("a");
      link.href = url;
      link.download = "idem-audit.csv";
      link.click();
      URL.revokeObjectURL(url);
    } catch {
      say("The entries could not be read. Nothing was saved.");
    }
    setBusy(false);
  };
  return (
    <Button onClick={() => void save()} disabled={isBusy}>
      <Icon name="download" />
      Save as CSV
    </Button>
  );
}
