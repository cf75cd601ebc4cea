// One alert, top to bottom: how many, what, since when, the pairs drawn, what differed, what was made twice, the newest pairs, what
// can be done, and where it was told.
import { Link } from "@tanstack/react-router";
import { useMemo } from "react";
import { rollbackKind } from "../../../../idem/src/store/history.ts";
import { Command } from "../../parts/command.tsx";
import { useNow } from "../../parts/now.ts";
import { Tag } from "../../parts/tag.tsx";
import { agoWords, clockOf, dateOf, isSameDay } from "../../parts/time-words.ts";
import { visibleText } from "../../parts/visible-text.ts";
import { useSettings } from "../../settings.ts";
import { AlertActions } from "./alert-actions.tsx";
import { AlertState } from "./alert-state.tsx";
import { closeness, entityCount, entityNoun, gather, isTwice, titleOf } from "./alert-words.ts";
import { Difference } from "./difference.tsx";
import { GapChart } from "./gap-chart.tsx";
import { LostWrites, missingCount } from "./lost-writes.tsx";
import { type MadePair, useDestinations, useLaterStates, useMadePairs } from "./made-twice.ts";
import { MadeTwice } from "./made-twice-part.tsx";
import { PairTable } from "./pair-table.tsx";
import { PairsDrawing } from "./pairs-drawing.tsx";
import { type AlertWithPairs, useFunctionName } from "./radar-data.ts";
import { Told } from "./told.tsx";
import "./alert-card.css";

interface AlertCardProps {
  readonly found: AlertWithPairs;
  /** On its own page: every pair, and how close together they came. */
  readonly isWhole?: boolean;
  readonly hasKeys?: boolean;
}

const newestShown = 5;
// Each is two runs with their steps to read; further down the table has the runs' ids.
const madeMax = 20;

export function AlertCard({
  found: { alert, pairs, deliveries, next },
  isWhole = false,
  hasKeys = false,
}: AlertCardProps) {
  const name = useFunctionName(alert.function);
  const gathered = useMemo(() => gather(pairs), [pairs]);
  const isOfStore = alert.kind === rollbackKind;
  const count = isOfStore ? missingCount(alert, pairs) : entityCount(gathered, alert, pairs.length);
  const isOfRuns = alert.of === "run";
  const newest = pairs.slice(0, newestShown);
  const { data: made } = useMadePairs(isWhole ? pairs.slice(0, madeMax) : newest, isOfRuns);
  const { data: states } = useLaterStates(pairs, isOfRuns);
  const { data: destinations } = useDestinations(isOfRuns ? (newest[0]?.laterId ?? null) : null);
  const byLater = useMemo(() => new Map<string, MadePair>(made?.map((each) => [each.pair.laterId, each])), [made]);
  const first = isOfRuns ? (made?.[0]?.first?.eventId ?? null) : (newest[0]?.firstId ?? null);
  const later = isOfRuns ? (made?.[0]?.later?.eventId ?? null) : (newest[0]?.laterId ?? null);
  const noun = isOfRuns ? entityNoun(alert.subject) : "key";
  const gaps = useMemo(() => gathered.flatMap(({ gapMs }) => gapMs ?? []), [gathered]);
  const title = titleOf(alert, name, gathered, count);
  const command = pairs.find(({ verify }) => verify !== null)?.verify ?? null;
  return (
    <article className={`card alert-card${isTwice(alert) ? " is-twice" : ""}`} aria-label={title}>
      <div className="what">
        <span className="block" aria-hidden="true">
          {count}
        </span>
        <h2>
          {isWhole ? (
            visibleText(title)
          ) : (
            <Link to="/radar/alerts/$alert" params={{ alert: alert.id }}>
              {visibleText(title)}
            </Link>
          )}
        </h2>
        <p className="quiet">
          {closeness(gathered, alert.of)} {!isOfStore && <Since alert={alert} />}
          {alert.kind === "doubled-runs" && (
            <>
              {" "}
              <Tag>our best guess</Tag>
            </>
          )}
        </p>
      </div>
      <AlertState alert={alert} />
      {isTwice(alert) && gathered.length > 0 && (
        <div className="part">
          <PairsDrawing gathered={gathered} noun={noun} />
        </div>
      )}
      {isWhole && isTwice(alert) && gaps.length > 1 && (
        <div className="part">
          <p className="caption">Time between the first and the second: less than</p>
          <GapChart gaps={gaps} />
        </div>
      )}
      {isOfStore ? (
        <LostWrites alert={alert} pairs={pairs} shown={isWhole ? pairs.length : newestShown} />
      ) : (
        <>
          <div className="halves">
            <div>
              <h3>What differed in the events</h3>
              <Difference alert={alert} count={count} firstEvent={first} laterEvent={later} />
            </div>
            <div>
              <h3>{isTwice(alert) ? "What was made twice" : "What to do"}</h3>
              {isTwice(alert) ? (
                <MadeTwice
                  count={pairs.length}
                  made={made ?? null}
                  states={states ?? null}
                  destinations={destinations ?? []}
                />
              ) : (
                <p>{visibleText(alert.next)}.</p>
              )}
            </div>
          </div>
          <PairTable of={alert.of} noun={noun} pairs={isWhole ? pairs : newest} made={byLater} />
        </>
      )}
      {!isWhole && pairs.length > newestShown && (
        <p className="all-pairs">
          <Link to="/radar/alerts/$alert" params={{ alert: alert.id }}>
            Show all {alert.pairCount}
          </Link>
        </p>
      )}
      {isWhole && next !== null && (
        <p className="all-pairs quiet">
          The newest {pairs.length} of {alert.pairCount}. The export has more.
        </p>
      )}
      {isWhole && command !== null && (
        <div className="part">
          <p className="caption">
            Plays the newest two events again, where nothing leaves: it happens, and holds once it is mended
          </p>
          <Command name="Verify it" command={`npx ${command}`} />
        </div>
      )}
      <footer>
        <AlertActions alert={alert} hasKeys={hasKeys} isWhole={isWhole} />
        <Told at={alert.firstAt} deliveries={deliveries ?? []} />
      </footer>
    </article>
  );
}

/** "First on 8 May at 15:02, latest 53 s ago." */
function Since({ alert: { firstAt, lastAt, pairCount } }: { readonly alert: AlertWithPairs["alert"] }) {
  const utc = useSettings().zone === "utc";
  const now = useNow(lastAt);
  const clock = clockOf(firstAt, { utc, millis: false }).slice(0, 5);
  const first = isSameDay(firstAt, now, utc) ? `at ${clock}` : `on ${dateOf(firstAt, now, utc)} at ${clock}`;
  return (
    <>
      {pairCount === 1
        ? `It was ${first}, ${agoWords(lastAt, now)}.`
        : `First ${first}, latest ${agoWords(lastAt, now)}.`}
    </>
  );
}
