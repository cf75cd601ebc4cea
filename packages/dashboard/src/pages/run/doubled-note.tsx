// The banner over a run that is one too many, and over the first of them: the picture nobody saw for a week.
import { Link } from "@tanstack/react-router";
import { timesWord } from "../../../../idem/src/stories/story-words.ts";
import { hasPage } from "../../pages.ts";
import { buttonClass } from "../../parts/button.tsx";
import { Note } from "../../parts/note.tsx";
import { lengthWords } from "../../parts/time-words.ts";
import { visibleText } from "../../parts/visible-text.ts";
import type { EffectItem, GroupItem, RunDetail } from "./run-data.ts";
import { isOpen } from "./run-data.ts";
import { useRunEffects } from "./run-queries.ts";
import { madeWords, ordinal, placeInGroup } from "./run-words.ts";

interface DoubledNoteProps {
  readonly run: RunDetail;
  readonly group: GroupItem;
  readonly effects: readonly EffectItem[];
}

export function DoubledNote({ run, group, effects }: DoubledNoteProps) {
  const place = placeInGroup(group, run.id);
  const asked = group.runs.filter(({ kind }) => kind !== "rerun");
  const other = place === null ? undefined : place.number === 1 ? asked[1] : asked[0];
  const { data: others } = useRunEffects(other?.id ?? "", group.isLoud && other !== undefined);
  if (!group.isLoud || place === null || other === undefined) return null;
  const isFirst = place.number === 1;
  const gap = lengthWords(Math.abs(run.createdAt - other.createdAt));
  const mine = madeWords(effects);
  const theirs = madeWords(others?.effects ?? []);
  const made =
    mine !== null && theirs !== null
      ? isFirst
        ? ` and made ${theirs}; this one made ${mine}`
        : ` and made ${theirs}; this one made ${mine}`
      : "";
  const bothOpen = isOpen(run) && isOpen(other);
  return (
    <Note
      tone="doubled"
      title={
        isFirst
          ? `${visibleText(group.label)} ran ${timesWord(place.of)}`
          : `This is the ${ordinal(place.number)} run for ${visibleText(group.label)}`
      }
      actions={
        <>
          {hasPage("/explain") && (
            <Link className={buttonClass()} to="/explain" search={{ q: run.id }}>
              Explain
            </Link>
          )}
          <Link
            className={buttonClass("hot")}
            to="/runs/$run/compare/$other"
            params={{ run: asked[0]!.id, other: isFirst ? other.id : run.id }}
          >
            Compare the two
          </Link>
        </>
      }
    >
      {visibleText(
        `${isFirst ? `This is the first. The second started ${gap} later` : `The first started ${gap} earlier`}${made}.${bothOpen ? " Neither has ended yet." : ""}`,
      )}
      {group.isGuess && " Grouped by our best guess: the function has no key."}
    </Note>
  );
}
