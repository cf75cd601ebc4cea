// The decision for each function, with its reason in words.
import { Link } from "@tanstack/react-router";
import { DecisionWords, functionLink, runLink } from "../../parts/decision.tsx";
import { Id } from "../../parts/id.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { Tag } from "../../parts/tag.tsx";
import { visibleText } from "../../parts/visible-text.ts";
import { WindowBar, windowOf } from "../../parts/window-bar.tsx";
import { claimName } from "../keys/claim-name.ts";
import { keyWords } from "../keys/key-words.ts";
import type { EventStory } from "./event-story.ts";

type ExplainedDecision = EventStory["decisions"][number];

const scopeOf = ({ function: fn }: ExplainedDecision): string => `fn:${fn}`;

const columns: readonly Column<ExplainedDecision>[] = [
  { name: "Function", cell: (decision) => functionLink(decision.function) },
  { name: "Decision", cell: (decision) => <DecisionWords decision={decision} /> },
  {
    name: "Reason",
    cell: ({ reason, differs }) => (
      <>
        <span className="quiet">{reason === null ? "" : visibleText(reason)}</span>
        {differs.length > 0 && (
          <span className="tags">
            {differs.map((path) => (
              <Tag key={path} tone="waiting">
                other {visibleText(path)}
              </Tag>
            ))}
          </span>
        )}
      </>
    ),
  },
  {
    name: "Run",
    cell: ({ runId }) =>
      runId === null ? (
        <span className="faint">none</span>
      ) : (
        <Id id={runId} of="run" link={(text) => runLink(runId, text)} />
      ),
  },
  {
    name: "Key",
    cell: (decision) => {
      const { key } = decision;
      if (key === null) return <span className="faint">none</span>;
      const scope = scopeOf(decision);
      return (
        <Link to="/keys/$claim" params={{ claim: claimName({ scope, key }) }}>
          <bdi className="mono">{visibleText(keyWords({ scope, key }))}</bdi>
        </Link>
      );
    },
  },
  {
    name: "Window",
    cell: (decision) => (
      <WindowBar window={windowOf(decision.decidedAt, decision.key === null ? null : decision.windowEndsAt)} />
    ),
  },
];

export const DecisionTable = ({ decisions }: { readonly decisions: readonly ExplainedDecision[] }) => (
  <Table
    label="Decisions"
    columns={columns}
    rows={decisions}
    idOf={(decision) => `${decision.eventId} ${decision.function}`}
  />
);
