// Paths that differ, one line each; equal ones fold to a line. Expected differences are grey.
import { Link } from "@tanstack/react-router";
import { Fragment, useState } from "react";
import { Button } from "../../parts/button.tsx";
import { Glyph } from "../../parts/glyph.tsx";
import { StateIcon } from "../../parts/state-icon.tsx";
import { visibleText } from "../../parts/visible-text.ts";
import type { RunDetail } from "../run/run-data.ts";
import { count } from "../run/run-words.ts";
import type { Compared, Part } from "./compared.ts";
import { type Difference, differingPart } from "./differences.ts";
import "./difference-table.css";

export function DifferenceTable({
  compared,
  one,
  two,
}: {
  readonly compared: Compared;
  readonly one: RunDetail;
  readonly two: RunDetail;
}) {
  return (
    <section className="card differences" aria-label="Differences">
      <table>
        <thead>
          <tr>
            <th scope="col">
              <span className="spoken">Path</span>
            </th>
            <RunHeading run={one} number={1} />
            <RunHeading run={two} number={2} />
          </tr>
        </thead>
        {compared.parts.map((part) => (
          <PartRows key={part.title} part={part} />
        ))}
      </table>
    </section>
  );
}

function RunHeading({ run, number }: { readonly run: RunDetail; readonly number: 1 | 2 }) {
  return (
    <th scope="col">
      <span className="run">
        <Glyph name={number === 1 ? "first" : "slipped"} size={14} />
        <Link to="/runs/$run" params={{ run: run.id }}>
          Run {number}
        </Link>
        <span className={`state ${run.state}`}>
          <StateIcon state={run.state} words={false} /> {run.state}
        </span>
      </span>
    </th>
  );
}

// A step may have thousands of paths; a person opens what they need.
const rowsShown = 100;
// With this few, the values themselves are worth their line.
const fewSame = 2;

function PartRows({ part }: { readonly part: Part }) {
  const [shown, setShown] = useState(rowsShown);
  const [isOpen, setOpen] = useState(false);
  const { title, rows, same, note, noun = "field" } = part;
  const values = isOpen ? same.slice(0, shown) : same.length <= fewSame ? same : [];
  const folded = same.length - values.length;
  return (
    <tbody>
      <tr className="part">
        <th colSpan={3} scope="rowgroup">
          <bdi>{visibleText(title)}</bdi>
        </th>
      </tr>
      {note !== null && (
        <tr>
          <td className="quiet" colSpan={3}>
            {note}
          </td>
        </tr>
      )}
      {rows.slice(0, shown).map((row) => (
        <DifferingRow key={row.path} row={row} />
      ))}
      {rows.length > shown && (
        <tr>
          <td colSpan={3}>
            <Button look="link" small onClick={() => setShown(shown * 10)}>
              Show more ({count(rows.length - shown, "path")} differ too)
            </Button>
          </td>
        </tr>
      )}
      {values.map(({ path, text }) => (
        <tr key={path} className="is-same">
          <th scope="row">{visibleText(path)}</th>
          <td colSpan={2}>
            <bdi>{visibleText(differingPart(text, text))}</bdi>
          </td>
        </tr>
      ))}
      {folded > 0 && (
        <tr className="is-same">
          <th scope="row">
            {rows.length + values.length === 0
              ? count(folded, noun)
              : `${folded} other ${folded === 1 ? noun : `${noun}s`}`}
          </th>
          <td colSpan={2}>
            the same in both{" "}
            {!isOpen && (
              <Button look="link" small onClick={() => setOpen(true)}>
                Show
              </Button>
            )}
          </td>
        </tr>
      )}
    </tbody>
  );
}

function DifferingRow({ row: { path, one, other, isExpected } }: { readonly row: Difference }) {
  return (
    <tr className={isExpected ? "is-expected" : "is-differing"}>
      <th scope="row">{visibleText(path)}</th>
      {(
        [
          [one, other, "Run 1"],
          [other, one, "Run 2"],
        ] as const
      ).map(([text, against, name]) => (
        <Fragment key={name}>
          <td data-run={name}>
            {text === undefined ? <i>not there</i> : <bdi>{visibleText(differingPart(text, against))}</bdi>}
          </td>
        </Fragment>
      ))}
    </tr>
  );
}
