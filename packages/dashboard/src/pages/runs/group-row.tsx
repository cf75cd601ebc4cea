// One key, one line. A key that ran twice takes two, in one block, with a filled ×2: height, shape, words and only then colour say so.
import { Link } from "@tanstack/react-router";
import { type MouseEvent, memo } from "react";
import { functionLink } from "../../parts/decision.tsx";
import { Glyph } from "../../parts/glyph.tsx";
import { Tag, type TagTone } from "../../parts/tag.tsx";
import { visibleText } from "../../parts/visible-text.ts";
import { type Window, WindowBar } from "../../parts/window-bar.tsx";
import { GroupPanel } from "./group-panel.tsx";
import {
  hasSeveralAskers,
  labelParts,
  linesShown,
  ranWords,
  timesRun,
  whoAsked,
  whoAskedWords,
} from "./group-words.ts";
import type { GroupItem } from "./groups-data.ts";
import { RunLine } from "./run-line.tsx";
import { changed } from "./runs-view.ts";
import "./group-row.css";
import "./group-row-narrow.css";

interface GroupRowProps {
  readonly group: GroupItem;
  readonly isOpen: boolean;
  /** Must not change between renders. */
  readonly onToggle: (group: string) => void;
}

export const GroupRow = memo(function GroupRow({ group, isOpen, onToggle }: GroupRowProps) {
  const times = timesRun(group);
  const runs = group.isLoud
    ? group.runs.filter(({ kind }) => kind !== "rerun").slice(0, linesShown)
    : group.runs.slice(0, 1);
  return (
    <>
      <span className={group.isLoud ? "block" : "count"} aria-hidden="true">
        {group.isLoud ? `×${times}` : times}
      </span>
      <span className="key">
        <RowLink group={group} isOpen={isOpen} onToggle={onToggle} />
        {group.isLoud && <span className="ran">{ranWords(group)}</span>}
      </span>
      <span className="fn">
        <span className="cut">{functionLink(group.function)}</span>
        {group.isGuess && group.isLoud && <span className="guess faint cut">grouped by our best guess</span>}
      </span>
      <WhoAsked group={group} onToggle={onToggle} isOpen={isOpen} />
      <span className="runs">
        {runs.map((run) => (
          <RunLine key={run.id} run={run} />
        ))}
        {group.isLoud && times > runs.length && (
          <button type="button" className="more quiet" aria-expanded={isOpen} onClick={() => onToggle(group.id)}>
            and {times - runs.length} more
          </button>
        )}
        {!group.isLoud && <Tags group={group} times={times} />}
      </span>
      <span className="window">
        <WindowBar window={windowOf(group)} />
      </span>
      {isOpen && <GroupPanel group={group} />}
    </>
  );
});

/** Enter, and a click where one asked, lead to the run; where several asked a click opens the group in place. */
function RowLink({ group, isOpen, onToggle }: GroupRowProps) {
  const { name, value } = labelParts(group);
  const text = (
    <>
      {group.isLoud && <span className="spoken">{ranWords(group).replace(/^r/, "R").split(",")[0]}: </span>}
      {name !== null && <span className="name">{visibleText(name)} </span>}
      <bdi className="value mono">{visibleText(value)}</bdi>
    </>
  );
  const title = visibleText(group.label);
  if (timesRun(group) > 1) {
    return (
      <Link
        className="row-link cut"
        title={title}
        to="/runs"
        search={changed({ open: isOpen ? undefined : group.id })}
        resetScroll={false}
        aria-expanded={isOpen}
      >
        {text}
      </Link>
    );
  }
  const inPlace = (event: MouseEvent) => {
    // A key press is no click: its detail is 0.
    if (
      !hasSeveralAskers(group) ||
      event.detail === 0 ||
      event.button !== 0 ||
      event.metaKey ||
      event.ctrlKey ||
      event.shiftKey ||
      event.altKey
    )
      return;
    event.preventDefault();
    onToggle(group.id);
  };
  return (
    <Link
      className="row-link cut"
      title={title}
      to="/runs/$run"
      params={{ run: group.runs[0]?.id ?? group.id }}
      onClick={inPlace}
    >
      {text}
    </Link>
  );
}

function WhoAsked({ group, isOpen, onToggle }: GroupRowProps) {
  const shapes = (
    <>
      {whoAsked(group).map(({ glyph, shown, more }) => (
        <span key={glyph} className="shapes" aria-hidden="true">
          {Array.from({ length: shown }, (_, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rings have nothing else to be told apart by
            <Glyph key={i} name={glyph} />
          ))}
          {more > 0 && (
            <span
              className={`more ${glyph === "slipped" ? "doubled" : glyph === "suppressed" ? "suppressed" : "quiet"}`}
            >
              +{more}
            </span>
          )}
        </span>
      ))}
      <span className="spoken">{whoAskedWords(group)}</span>
    </>
  );
  if (!hasSeveralAskers(group)) return <span className="asked">{shapes}</span>;
  return (
    <span className="asked">
      <button type="button" aria-expanded={isOpen} onClick={() => onToggle(group.id)} title={whoAskedWords(group)}>
        <span className="spoken">Who asked: </span>
        {shapes}
      </button>
    </span>
  );
}

const tones: Readonly<Record<string, TagTone>> = { "maybe the same": "waiting", "key was missing": "doubled" };
const words: Readonly<Record<string, string>> = { "no-worker": "no worker" };

function Tags({ group, times }: { readonly group: GroupItem; readonly times: number }) {
  if (times < 2 && group.tags.length === 0) return null;
  return (
    <span className="tags">
      {times > 1 && <span className="quiet">{times} runs</span>}
      {group.tags.map((tag) => (
        <Tag key={tag} tone={tones[tag] ?? "plain"}>
          {words[tag] ?? tag}
        </Tag>
      ))}
    </span>
  );
}

/** A window without an end to come is shown as ended where its end is known. */
function windowOf({ window: { kind, startsAt, endsAt } }: GroupItem): Window {
  if (kind === "timed" && endsAt !== null) return { kind: "timed", startsAt, endsAt };
  return { kind: kind === "timed" ? "none" : kind };
}
