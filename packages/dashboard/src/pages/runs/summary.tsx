// The numbers, which add up and are filters, and over time as bars. The numbers are the chart's legend.
import { Link } from "@tanstack/react-router";
import { Glyph, type GlyphName } from "../../parts/glyph.tsx";
import { numberWords } from "./group-words.ts";
import type { TotalsAnswer } from "./groups-data.ts";
import { type Change, changed, type RunsView } from "./runs-view.ts";
import { TotalsChart } from "./totals-chart.tsx";
import "./summary.css";

interface SummaryProps {
  readonly view: RunsView;
  readonly totals: TotalsAnswer;
  readonly range: string;
}

export function Summary({ view, totals, range }: SummaryProps) {
  const { group } = view;
  const { show } = view.search;
  const { asked, first, suppressed, slipped, isAll } = totals;
  const of = `${range}${view.search.fn === undefined ? "" : `, ${view.search.fn}`}`;
  return (
    <section className="card summary" aria-label={`Asked, first runs, suppressed and slipped through: ${of}`}>
      <ul className="numbers">
        <Count
          name="Asked"
          count={asked}
          isShown={group === "event"}
          to={{ group: "event", show: undefined }}
          title="Every event that asked for a run"
        />
        <Count
          name="First runs"
          glyph="first"
          count={first}
          isShown={false}
          to={{ group: undefined, show: undefined }}
          title="Keys, each with its first run"
        />
        <Count
          name="Suppressed"
          glyph="suppressed"
          tone="suppressed"
          count={suppressed}
          isShown={show === "suppressed"}
          to={{ group: undefined, show: "suppressed" }}
          title="Keys for which duplicates were answered with the first run"
        />
        <Count
          name="Slipped through"
          glyph="slipped"
          tone="doubled"
          count={slipped}
          isShown={show === "doubled"}
          to={{ group: undefined, show: "doubled" }}
          title="Keys that ran more than once"
        />
      </ul>
      <TotalsChart totals={totals} range={range} onSelect={(since, until) => view.change({ since, until })} />
      {!isAll && <p className="faint">So much happens that the newest seconds are not counted yet.</p>}
    </section>
  );
}

interface CountProps {
  readonly name: string;
  readonly count: number;
  readonly glyph?: GlyphName;
  readonly tone?: string;
  readonly isShown: boolean;
  readonly to: Change;
  readonly title: string;
}

function Count({ name, count, glyph, tone = "", isShown, to, title }: CountProps) {
  return (
    <li>
      <Link
        className={`number${isShown ? " is-shown" : ""}`}
        to="/runs"
        search={changed({ ...to, open: undefined })}
        resetScroll={false}
        title={title}
      >
        <span className="name">
          {glyph !== undefined && <Glyph name={glyph} size={10} />}
          {name}
        </span>
        <span className={`figure ${count === 0 ? "" : tone}`}>{numberWords(count)}</span>
      </Link>
    </li>
  );
}
