// The ground of it all: the workers, the store, and the duplicates stopped in time.
import { Link } from "@tanstack/react-router";
import { useStatus } from "../../api/status.ts";
import { Glyph } from "../../parts/glyph.tsx";
import { Time } from "../../parts/time.tsx";
import { visibleText } from "../../parts/visible-text.ts";
import { numberWords } from "../runs/group-words.ts";
import { nodeName, useWorkers } from "../workers/worker-data.ts";

const shownMax = 4;

/** `suppressed` is null until it is known. */
export function Underneath({ suppressed }: { readonly suppressed: number | null }) {
  const { data } = useWorkers();
  const { data: status } = useStatus();
  const alive = data?.workers.filter(({ state }) => state !== "gone") ?? [];
  return (
    <div className="underneath">
      <section className="card">
        <header>
          <h2>Workers</h2>
          <Link to="/workers">All {alive.length}</Link>
        </header>
        <ul className="rows">
          {alive.length === 0 && <li className="quiet">No worker is there. Runs wait, and nothing is lost.</li>}
          {alive.slice(0, shownMax).map((worker) => (
            <li key={worker.id}>
              <span className="cut">{visibleText(nodeName(worker))}</span>
              {worker.state === "silent" ? (
                <b className="waiting">silent</b>
              ) : (
                <b>{numberWords(worker.leased)} at work</b>
              )}
            </li>
          ))}
        </ul>
      </section>
      <section className="card">
        <header>
          <h2>Store</h2>
        </header>
        {status !== undefined && (
          <ul className="rows">
            <li>
              <span>Address</span>
              <code className="cut">{visibleText(status.store)}</code>
            </li>
            <li>
              <span>Functions without a key or a reason</span>
              {status.functions.withoutKey === 0 ? (
                <b className="faint">0</b>
              ) : (
                <Link to="/functions" search={{ key: "missing" }}>
                  {numberWords(status.functions.withoutKey)}
                </Link>
              )}
            </li>
            <li>
              <span>Its clock</span>
              <Time at={status.now} />
            </li>
          </ul>
        )}
      </section>
      <section className="card">
        <header>
          <h2>Stopped in time</h2>
        </header>
        <ul className="rows">
          <li>
            <span>Duplicates answered with the first run</span>
            {suppressed === null ? (
              ""
            ) : suppressed === 0 ? (
              <b className="faint">0</b>
            ) : (
              <Link className="suppressed sign-and-count" to="/runs" search={{ show: "suppressed" }}>
                <Glyph name="suppressed" />
                <b>{numberWords(suppressed)}</b>
              </Link>
            )}
          </li>
        </ul>
      </section>
    </div>
  );
}
