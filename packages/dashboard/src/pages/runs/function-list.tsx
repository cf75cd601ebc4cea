// Runs grouped by function: how often each was asked, and what became of it.
import { Link } from "@tanstack/react-router";
import { Glyph } from "../../parts/glyph.tsx";
import { useKeysetList } from "../../parts/keyset-list.ts";
import { List } from "../../parts/list.tsx";
import { Duration, Time } from "../../parts/time.tsx";
import { counted, numberWords } from "./group-words.ts";
import { type FunctionGroup, fetchGroups } from "./groups-data.ts";
import { NothingHere } from "./nothing-here.tsx";
import { changed, type RunsView } from "./runs-view.ts";

const idOf = (row: FunctionGroup): string => row.function;

export function FunctionList({ view }: { readonly view: RunsView }) {
  const { range } = view;
  const list = useKeysetList({
    key: ["by-function", range],
    fetchPage: async (_, signal) => {
      const { functions } = await fetchGroups({ ...range, group: "function" }, signal);
      // Doubled first, then the busiest.
      return { rows: [...functions].sort((a, b) => b.slipped - a.slipped || b.asked - a.asked), next: null };
    },
    idOf,
    isNewestFirst: false,
  });
  return (
    <div className="by-function">
      <List
        list={list}
        label="Runs by function"
        noun="functions"
        idOf={idOf}
        rowClass={({ slipped }) => (slipped > 0 ? "is-loud" : "")}
        head={
          <>
            <span>Function</span>
            <span className="number">Runs</span>
            <span className="number">Suppressed</span>
            <span className="number">Slipped through</span>
            <span className="number">Failed</span>
            <span className="number">Run time p50</span>
            <span className="last">Last</span>
          </>
        }
        row={(row) => <FunctionRow row={row} />}
        empty={<NothingHere view={view} />}
      />
    </div>
  );
}

function FunctionRow({ row }: { readonly row: FunctionGroup }) {
  return (
    <>
      <Link className="row-link cut fn" to="/runs" search={changed({ group: undefined, fn: row.function })}>
        {row.slipped > 0 && <span className="spoken">{counted(row.slipped, "run")} slipped through: </span>}
        {row.function}
      </Link>
      <span className="number" data-name="Runs">
        {numberWords(row.first + row.slipped)}
      </span>
      <span className={`number ${row.suppressed > 0 ? "suppressed" : "faint"}`} data-name="Suppressed">
        {numberWords(row.suppressed)}
      </span>
      <span className={`number ${row.slipped > 0 ? "doubled strong" : "faint"}`} data-name="Slipped through">
        {row.slipped > 0 && <Glyph name="slipped" />}
        {numberWords(row.slipped)}
      </span>
      <span className={`number ${row.failed > 0 ? "failed" : "faint"}`} data-name="Failed">
        {numberWords(row.failed)}
      </span>
      <span className="number quiet" data-name="p50">
        {row.p50Ms === null ? "none ended" : <Duration ms={row.p50Ms} />}
      </span>
      <span className="last quiet" data-name="Last">
        {row.lastRunAt === null ? "never" : <Time at={row.lastRunAt} as="ago" />}
      </span>
    </>
  );
}
