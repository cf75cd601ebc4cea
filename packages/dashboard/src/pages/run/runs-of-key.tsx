// Every run of this key: two lines here are two runs for one thing.
import { Link } from "@tanstack/react-router";
import { buttonClass } from "../../parts/button.tsx";
import { Glyph } from "../../parts/glyph.tsx";
import { cutMiddle } from "../../parts/id.tsx";
import { StateIcon } from "../../parts/state-icon.tsx";
import { Time } from "../../parts/time.tsx";
import { lengthWords } from "../../parts/time-words.ts";
import { visibleText } from "../../parts/visible-text.ts";
import { madeBy, previewTitle, previewWords } from "../runs/preview-words.ts";
import type { GroupItem } from "./run-data.ts";
import { count } from "./run-words.ts";
import "./runs-of-key.css";

const glyphs = { first: "first", slipped: "slipped", maybe: "first", rerun: "rerun" } as const;
const words = { first: "first run", slipped: "slipped through", maybe: "maybe the same", rerun: "rerun" } as const;

export function RunsOfKey({ group, runId }: { readonly group: GroupItem; readonly runId: string }) {
  const { runs, runCount, counts, gapMs, isLoud, label } = group;
  const first = runs[0]!;
  return (
    <section className="card runs-of-key" aria-label="Runs of this key">
      <header>
        <h2>
          Runs for <bdi>{visibleText(label)}</bdi>
        </h2>
        <span className={isLoud ? "doubled is-loud" : "faint"}>
          {count(runCount, "run")}
          {gapMs !== null && runCount - counts.reruns > 1 && `, ${lengthWords(gapMs)} apart`}
          {counts.suppressed > 0 && `, ${count(counts.suppressed, "duplicate")} suppressed`}
        </span>
      </header>
      <ol>
        {runs.map((run, i) => (
          <li
            key={run.id}
            className={`${run.id === runId ? "is-this" : ""}${isLoud && run.kind === "slipped" ? " is-slipped" : ""}`}
          >
            <span className="place">
              <Glyph name={glyphs[run.kind]} words={words[run.kind]} /> Run {i + 1}
            </span>
            <StateIcon state={run.state} />
            {run.id === runId ? (
              <b className="mono cut" aria-current="page">
                {cutMiddle(run.id)}
              </b>
            ) : (
              <Link className="mono cut" to="/runs/$run" params={{ run: run.id }}>
                {cutMiddle(run.id)}
              </Link>
            )}
            <span className="preview mono cut quiet" title={previewTitle(run)}>
              {run.previewStep !== null && <span className="spoken">{madeBy(run.previewStep)} </span>}
              {visibleText(previewWords(run))}
            </span>
            <Time at={run.createdAt} as="row" />
            {run.id !== first.id && (
              <Link
                className={buttonClass("link", true)}
                to="/runs/$run/compare/$other"
                params={{ run: first.id, other: run.id }}
                aria-label={`Compare run ${i + 1} with the first`}
              >
                Compare
              </Link>
            )}
          </li>
        ))}
      </ol>
      {runCount > runs.length && <p className="more quiet">and {runCount - runs.length} more</p>}
    </section>
  );
}
