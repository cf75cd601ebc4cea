// All functions together over the time: how many ended and failed, how long they took, and what is in line now. The charts share one cursor,
// whose values stand once, under them; a stretch opens its runs by a click or Enter.
import { Link, useNavigate } from "@tanstack/react-router";
import { type KeyboardEvent, type PointerEvent, useState } from "react";
import { Button } from "../../parts/button.tsx";
import { useNow } from "../../parts/now.ts";
import { Table } from "../../parts/table.tsx";
import { durationWords, lengthWords, minuteOf } from "../../parts/time-words.ts";
import { useSettings } from "../../settings.ts";
import { counted, numberWords } from "../runs/group-words.ts";
import { Bars, Lines } from "./drawings.tsx";
import { endedIn, type Overview } from "./overview-data.ts";
import "./all-ends.css";

type Bucket = Overview["buckets"][number];
const tookWords = (ms: number | null): string => (ms === null ? "none ended" : durationWords(ms));

export function AllEnds({ overview }: { readonly overview: Overview }) {
  const { buckets, bucketMs, since, total } = overview;
  const [pointed, setPointed] = useState<number | null>(null);
  const [isTable, setTable] = useState(false);
  const navigate = useNavigate();
  const utc = useSettings().zone === "utc";
  const now = useNow();
  const last = buckets.length - 1;
  const at = Math.min(pointed ?? last, last);
  const bucket = buckets[at];
  const from = (each: Bucket) => minuteOf(each.at, now, utc);
  const open = (each: Bucket) =>
    void navigate({ to: "/runs", search: { ...endedIn(each.at, each.at + bucketMs), by: "ended" } });
  const point = ({ currentTarget, clientX }: PointerEvent<HTMLElement>) => {
    const { left, width } = currentTarget.getBoundingClientRect();
    setPointed(Math.max(0, Math.min(last, Math.floor(((clientX - left) / width) * buckets.length))));
  };
  const hear = (event: KeyboardEvent<HTMLElement>) => {
    const to = event.key === "ArrowLeft" ? at - 1 : event.key === "ArrowRight" ? at + 1 : null;
    if (to !== null) setPointed(Math.max(0, Math.min(last, to)));
    else if (event.key === "Enter" && event.target === event.currentTarget && bucket !== undefined) open(bucket);
    else return;
    event.preventDefault();
  };
  const pad = {
    at,
    onPoint: point,
    onLeave: () => setPointed(null),
    onOpen: () => bucket !== undefined && open(bucket),
    ticks: [...new Set([0, Math.floor(last / 2)].map((i) => from(buckets[i]!))), "now"],
  };
  const highestEnded = Math.max(0, ...buckets.map(({ ended }) => ended));
  const slowest = Math.max(0, ...buckets.map(({ p95Ms }) => p95Ms ?? 0));
  return (
    <section
      className="card all-ends"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: arrow keys move the cursor of its charts, Enter opens what it points at
      tabIndex={0}
      aria-label={`How runs ended since ${minuteOf(since, now, utc)}: ${counted(total.ended, "run")}, ${total.failed} failed. Arrow keys move through the time, Enter opens its runs`}
      onKeyDown={hear}
    >
      <div className="panels">
        <div>
          <Figures>
            <Figure name="Ended" sign="ended">
              <Link to="/runs" search={{ ...endedIn(since), by: "ended" }}>
                {numberWords(total.ended)}
              </Link>
            </Figure>
            <Figure name="Failed" sign="failed">
              {total.failed === 0 ? (
                <span className="faint">0</span>
              ) : (
                <Link className="failed" to="/runs" search={{ ...endedIn(since), state: "failed" }}>
                  {numberWords(total.failed)}
                </Link>
              )}
            </Figure>
            <small className="faint">highest {numberWords(highestEnded)}</small>
          </Figures>
          <Bars {...pad} buckets={buckets} />
        </div>
        <div>
          <Figures>
            <Figure name="p50" sign="p50">
              {tookWords(total.p50Ms)}
            </Figure>
            <Figure name="p95" sign="p95">
              {tookWords(total.p95Ms)}
            </Figure>
            <small className="faint">highest {slowest === 0 ? "none" : durationWords(slowest)}</small>
          </Figures>
          <Lines {...pad} buckets={buckets} />
        </div>
        <div>
          <Figures>
            <Figure name="In line now" sign="line">
              {total.waiting === 0 ? (
                <span className="faint">0</span>
              ) : (
                <Link className="waiting" to="/runs" search={{ group: "none", state: "queued" }}>
                  {numberWords(total.waiting)}
                </Link>
              )}
            </Figure>
            <Figure name="Oldest">
              {total.oldestAt === null ? (
                <span className="faint">none</span>
              ) : (
                lengthWords(Math.max(0, now - total.oldestAt))
              )}
            </Figure>
            <Figure name="At work">
              {total.atWork === 0 ? (
                <span className="faint">0</span>
              ) : (
                <Link to="/runs" search={{ group: "none", state: "running" }}>
                  {numberWords(total.atWork)}
                </Link>
              )}
            </Figure>
          </Figures>
          <Longest overview={overview} />
        </div>
      </div>
      {isTable && (
        <Table
          label="How runs ended over the time"
          rows={buckets.filter(({ ended }) => ended > 0)}
          idOf={(each) => `${each.at}`}
          columns={[
            { name: "From", cell: from },
            { name: "Ended", isNumber: true, cell: ({ ended }) => numberWords(ended) },
            { name: "Failed", isNumber: true, cell: ({ failed }) => numberWords(failed) },
            { name: "p50", isNumber: true, cell: ({ p50Ms }) => tookWords(p50Ms) },
            { name: "p95", isNumber: true, cell: ({ p95Ms }) => tookWords(p95Ms) },
          ]}
        />
      )}
      {bucket !== undefined && (
        <p className="values" aria-live="polite">
          <b>
            {from(bucket)} to {at === last ? "now" : minuteOf(bucket.at + bucketMs, now, utc)}
          </b>
          <span>
            <b>{numberWords(bucket.ended)}</b> ended
          </span>
          <span>
            <b className={bucket.failed > 0 ? "failed" : ""}>{numberWords(bucket.failed)}</b> failed
          </span>
          <span>
            p50 <b>{tookWords(bucket.p50Ms)}</b>
          </span>
          <span>
            p95 <b>{tookWords(bucket.p95Ms)}</b>
          </span>
          <span className="ways">
            <Link to="/runs" search={{ ...endedIn(bucket.at, bucket.at + bucketMs), by: "ended" }}>
              Open these runs
            </Link>
            <Button look="link" small aria-pressed={isTable} onClick={() => setTable(!isTable)}>
              {isTable ? "Hide the table" : "Show as table"}
            </Button>
          </span>
        </p>
      )}
    </section>
  );
}

const Figures = ({ children }: { readonly children: React.ReactNode }) => <div className="figures-row">{children}</div>;

const Figure = ({
  name,
  sign,
  children,
}: {
  readonly name: string;
  readonly sign?: string;
  readonly children: React.ReactNode;
}) => (
  <div className="figure">
    <span className={sign === undefined ? "name" : `name has-sign is-${sign}`}>{name}</span>
    <b>{children}</b>
  </div>
);

/** The longest lines: a number alone says not where. */
function Longest({ overview: { functions } }: { readonly overview: Overview }) {
  const lines = functions.filter(({ line }) => line.waiting > 0).sort((a, b) => b.line.waiting - a.line.waiting);
  if (lines.length === 0) return <p className="quiet">Nobody stands in line.</p>;
  const most = lines[0]!.line.waiting;
  return (
    <ul className="longest">
      {lines.slice(0, 3).map(({ function: fn, id, line }) => (
        <li key={fn}>
          <Link className="cut" to="/functions/$fn/line" params={{ fn }}>
            {id}
          </Link>
          <meter min={0} max={most} value={line.waiting} aria-label={`${line.waiting} in line`} />
          <b>{numberWords(line.waiting)}</b>
        </li>
      ))}
    </ul>
  );
}
