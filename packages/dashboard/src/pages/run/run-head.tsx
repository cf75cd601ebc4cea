// Read first: the function, the key, the state; whether it is one run too many; the facts.
import { Link } from "@tanstack/react-router";
import { hasPage } from "../../pages.ts";
import { ActButton, Button, buttonClass } from "../../parts/button.tsx";
import { Note } from "../../parts/note.tsx";
import { StateIcon } from "../../parts/state-icon.tsx";
import { Tag } from "../../parts/tag.tsx";
import { Time } from "../../parts/time.tsx";
import { visibleText } from "../../parts/visible-text.ts";
import { AwaitedPart } from "./awaited-part.tsx";
import { DoubledNote } from "./doubled-note.tsx";
import { type EffectItem, type GroupItem, isOpen, type RunAnswer } from "./run-data.ts";
import { RunFacts } from "./run-facts.tsx";
import { codesOf, enteredAgain, queueWords, stateWords, triedAgainWords } from "./run-words.ts";
import "./run-head.css";

interface RunHeadProps {
  readonly answer: RunAnswer;
  readonly group: GroupItem | undefined;
  readonly effects: readonly EffectItem[];
  readonly onRerun: () => void;
  readonly onCancel: () => void;
  readonly onRelease: () => void;
  readonly onCompare: () => void;
  readonly onChanged: () => void;
}

export function RunHead({ answer, group, effects, onRerun, onCancel, onRelease, onCompare, onChanged }: RunHeadProps) {
  const { run } = answer;
  const queue = queueWords(run, group);
  const again = triedAgainWords(run);
  const codes = codesOf(run);
  return (
    <>
      <div className="run-head">
        <div className="name">
          <StateIcon state={run.state} words={false} />
          <h2>
            <FunctionName fn={run.function} />
          </h2>
        </div>
        {group !== undefined && group.key !== null && <KeyTag group={group} />}
        <span className={`state ${run.state}`}>{visibleText(stateWords(run))}</span>
        {again !== null && <span className="quiet">{again}</span>}
        <div className="actions">
          <Button onClick={onCompare}>Compare</Button>
          <ActButton onClick={onRerun}>Rerun</ActButton>
          {run.state === "parked" && <ActButton onClick={onRelease}>Let it go on</ActButton>}
          {isOpen(run) && <ActButton onClick={onCancel}>Cancel run</ActButton>}
        </div>
      </div>
      {group !== undefined && <DoubledNote run={run} group={group} effects={effects} />}
      {run.parked !== null && (
        <Note tone="failed" title="Parked for a person">
          {visibleText(run.parked.reason)}, since <Time at={run.parked.at} />. Nothing but a person makes it go on.
        </Note>
      )}
      {run.parked === null && run.lost !== null && (
        <Note tone="waiting" title={enteredAgain(run.lost)}>
          Its worker was lost in the middle of it, the last one <Time at={run.lost.at} />; nothing was recorded since.
        </Note>
      )}
      {codes !== null && (
        <Note tone="plain" title="Its code changed while it was under way">
          Its code was <span className="mono">{visibleText(codes)}</span>; the timeline shows where.
        </Note>
      )}
      {run.rerunOf !== null && (
        <Note
          tone="plain"
          title="A person asked for this run"
          actions={
            <Link className={buttonClass()} to="/runs/$run/compare/$other" params={{ run: run.rerunOf, other: run.id }}>
              Compare the two
            </Link>
          }
        >
          It is a rerun of{" "}
          <Link className="mono" to="/runs/$run" params={{ run: run.rerunOf }}>
            {run.rerunOf}
          </Link>
          {run.rerunFrom === null
            ? ""
            : ` from step ${visibleText(run.rerunFrom.name)}; ${run.rerunFrom.keptCount} recorded ${run.rerunFrom.keptCount === 1 ? "outcome was" : "outcomes were"} kept`}
          {answer.hasOtherData && ", with other data than its event has"}. Its destination keys are the same.
        </Note>
      )}
      {queue !== null && (
        <Note tone="plain" title="Not started yet">
          {visibleText(queue)}
        </Note>
      )}
      <AwaitedPart answer={answer} onSent={onChanged} />
      <RunFacts answer={answer} group={group} />
    </>
  );
}

/** The app's name is quiet: it is the same all over the page. */
function FunctionName({ fn }: { readonly fn: string }) {
  const text = <bdi>{visibleText(fn)}</bdi>;
  return hasPage("/functions/$fn") ? (
    <Link className="function" to="/functions/$fn" params={{ fn }}>
      {text}
    </Link>
  ) : (
    text
  );
}

function KeyTag({ group }: { readonly group: GroupItem }) {
  const [name, ...value] = group.label.split(" ");
  return (
    <Tag>
      {value.length === 0 ? (
        <b className="mono">{visibleText(group.label)}</b>
      ) : (
        <>
          <span className="faint">{visibleText(name!)}</span> <b className="mono cut">{visibleText(value.join(" "))}</b>
        </>
      )}
    </Tag>
  );
}
