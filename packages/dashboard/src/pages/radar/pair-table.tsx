// Pairs under each other, so that two ids are read as two things.
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { hasPage } from "../../pages.ts";
import { runLink } from "../../parts/decision.tsx";
import { cutMiddle } from "../../parts/id.tsx";
import { Time } from "../../parts/time.tsx";
import { lengthWords } from "../../parts/time-words.ts";
import { visibleText } from "../../parts/visible-text.ts";
import { entityText, firstAtOf, gapOf } from "./alert-words.ts";
import type { MadePair } from "./made-twice.ts";
import type { Alert, Pair } from "./radar-data.ts";
import "./pair-table.css";

interface PairTableProps {
  readonly of: Alert["of"];
  readonly noun: string;
  readonly pairs: readonly Pair[];
  readonly made: ReadonlyMap<string, MadePair>;
}

export function PairTable({ of, noun, pairs, made }: PairTableProps) {
  const madeCount = pairs.filter(({ laterId }) => made.get(laterId)?.made != null).length;
  const isMixed = madeCount > 0 && madeCount < pairs.length;
  const [first, second] = isMixed
    ? ["First", "Second"]
    : madeCount > 0
      ? ["First made", "Second made"]
      : of === "run"
        ? ["First run", "Second run"]
        : ["First event", "Second event"];
  return (
    <table className="pair-table">
      <thead>
        <tr>
          <th scope="col">{noun.charAt(0).toUpperCase() + noun.slice(1)}</th>
          <th scope="col" className="wide">
            {of === "run" ? "First began" : "First came"}
          </th>
          <th scope="col">{first}</th>
          <th scope="col">{second}</th>
          <th scope="col" className="apart">
            Apart
          </th>
        </tr>
      </thead>
      <tbody>
        {pairs.map((pair) => {
          const names = made.get(pair.laterId)?.made ?? null;
          return (
            <tr key={`${pair.entity} ${pair.laterId}`}>
              <th scope="row" className="mono cut" title={entityText(pair.entity)}>
                <bdi>{entityText(pair.entity)}</bdi>
              </th>
              <td className="wide quiet">
                <Time at={firstAtOf(pair)} />
              </td>
              <td>
                {pair.firstId === null ? (
                  <span className="faint">none</span>
                ) : (
                  linkTo(of, pair.firstId, names?.first ?? null)
                )}
              </td>
              <td>{linkTo(of, pair.laterId, names?.later ?? null)}</td>
              <td className="apart">{apart(of, pair)}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

function linkTo(of: Alert["of"], id: string, name: string | null): ReactNode {
  const text = (
    <bdi className="mono cut" title={visibleText(name ?? id)}>
      {visibleText(cutMiddle(name ?? id, 22))}
    </bdi>
  );
  if (of === "run") return runLink(id, text);
  return hasPage("/events/$event") ? (
    <Link to="/events/$event" params={{ event: id }}>
      {text}
    </Link>
  ) : (
    text
  );
}

/** Leads to both side by side. */
function apart(of: Alert["of"], pair: Pair): ReactNode {
  const gap = gapOf(pair);
  if (gap === null || pair.firstId === null) return null;
  const words = lengthWords(gap);
  if (of !== "run" || !hasPage("/runs/$run/compare/$other")) return words;
  return (
    <Link
      to="/runs/$run/compare/$other"
      params={{ run: pair.firstId, other: pair.laterId }}
      aria-label={`${words} apart: compare the two`}
    >
      {words}
    </Link>
  );
}
