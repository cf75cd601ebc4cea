// Two runs side by side, of one key or any two: what differed.
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { PageTitle } from "../../frame/page-title.tsx";
import { ActButton, Button } from "../../parts/button.tsx";
import { ErrorPart } from "../../parts/error-part.tsx";
import { SelectField } from "../../parts/field.tsx";
import { cutMiddle } from "../../parts/id.tsx";
import { Note } from "../../parts/note.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { visibleText } from "../../parts/visible-text.ts";
import { CancelDialog } from "../run/cancel-dialog.tsx";
import { type GroupItem, isOpen } from "../run/run-data.ts";
import { forgetRun, useRunEffects, useRunGroup } from "../run/run-queries.ts";
import { BothRuns } from "./both-runs.tsx";
import { useMovedOn, useSide } from "./compare-queries.ts";
import { compareRuns, type Side } from "./compared.ts";
import { DifferenceTable } from "./difference-table.tsx";
import { csvOf, markdownOf } from "./export.ts";
import { useRunChoices } from "./run-choices.ts";
import "./compare-page.css";

export function Page() {
  const { run, other } = useParams({ from: "/runs/$run/compare/$other" });
  const one = useSide(run);
  const two = useSide(other);
  const error = one.error ?? two.error;
  return (
    <>
      <PageTitle title={titleOf(one.side, two.side)} under={{ to: "/runs", text: "Runs" }}>
        Compare two runs
      </PageTitle>
      {error !== null ? (
        <ErrorPart
          error={error}
          what="The two runs could not be read."
          onRetry={() => {
            void one.refetch();
            void two.refetch();
          }}
        />
      ) : one.side === null || two.side === null ? (
        <Skeleton rows={12} />
      ) : (
        <Shown one={one.side} two={two.side} />
      )}
    </>
  );
}

function Shown({ one, two }: { readonly one: Side; readonly two: Side }) {
  const queries = useQueryClient();
  const { data: group } = useRunGroup(two.answer.run.id);
  const { data: effects } = useRunEffects(two.answer.run.id, true);
  const [isAsking, setAsking] = useState(false);
  const moved = useMovedOn([one, two]);
  const compared = compareRuns(one, two);
  const { run } = two.answer;
  const refresh = () => queries.resetQueries({ queryKey: ["compare"] });
  const label = group?.label ?? run.function;
  const isOtherFunction = one.answer.run.function !== run.function;
  const named = { title: `${label}: run 1 and run 2`, runs: [one.answer.run.id, run.id] } as const;
  return (
    <>
      <div className="compare-head">
        <p className="quiet cut">
          <bdi>{visibleText(run.function)}</bdi>, <b>{visibleText(label)}</b>
          {isOtherFunction && (
            <>
              , beside <bdi>{visibleText(one.answer.run.function)}</bdi>
            </>
          )}
        </p>
        <Pickers one={one} two={two} group={group} />
        <div className="button-row">
          {isOpen(run) && <ActButton onClick={() => setAsking(true)}>Cancel run 2</ActButton>}
          <Button onClick={() => save(markdownOf(compared, named), "text/markdown", "md", run.id)}>
            Export Markdown
          </Button>
          <Button onClick={() => save(csvOf(compared), "text/csv", "csv", run.id)}>Export CSV</Button>
        </div>
      </div>
      {moved.length > 0 && (
        <Note
          tone="plain"
          title={`Run ${moved.join(" and run ")} moved on`}
          actions={<Button onClick={() => void refresh()}>Refresh</Button>}
        >
          What stands here is how they were when you opened the page.
        </Note>
      )}
      {compared.isSame && <Note tone="good" title="These runs did the same thing with the same data." />}
      <section className="card sentences" aria-label="What differed">
        {compared.sentences.map(({ title, words, isLoud }) => (
          <div key={title}>
            <h2 className={isLoud ? "doubled" : ""}>{title}</h2>
            <p className="quiet">{visibleText(words)}</p>
          </div>
        ))}
      </section>
      <BothRuns one={one.answer} two={two.answer} />
      <DifferenceTable compared={compared} one={one.answer.run} two={two.answer.run} />
      {isAsking && (
        <CancelDialog
          run={run}
          effects={effects?.effects ?? []}
          onClose={() => setAsking(false)}
          onDone={async () => {
            await forgetRun(queries, run.id);
            await refresh();
          }}
        />
      )}
    </>
  );
}

const titleOf = (one: Side | null, two: Side | null): string => {
  if (one === null || two === null) return "Compare two runs";
  const [first, second] = [one.answer.run, two.answer.run];
  const of = first.function === second.function ? first.function : `${first.function} and ${second.function}`;
  return `Compare ${cutMiddle(first.id)} and ${cutMiddle(second.id)} of ${visibleText(of)}`;
};

/** Pick two: any of the key, any of the function. */
function Pickers({
  one,
  two,
  group,
}: {
  readonly one: Side;
  readonly two: Side;
  readonly group: GroupItem | undefined;
}) {
  const navigate = useNavigate();
  const [first, second] = [one.answer.run.id, two.answer.run.id];
  const choices = useRunChoices(two.answer.run, group);
  const known = (id: string) =>
    choices.some(({ value }) => value === id) ? choices : [{ value: id, text: cutMiddle(id) }, ...choices];
  const go = (run: string, other: string) => void navigate({ to: "/runs/$run/compare/$other", params: { run, other } });
  return (
    <div className="pickers">
      <SelectField label="Run 1" value={first} choices={known(first)} onChange={(id) => go(id, second)} />
      <SelectField label="Run 2" value={second} choices={known(second)} onChange={(id) => go(first, id)} />
    </div>
  );
}

function save(text: string, type: string, ending: string, runId: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }));
  const link = document.createElement("a");
  link.href = url;
  link.download = `compare-${runId}.${ending}`;
  link.click();
  // The browser has begun to read it by the next turn.
  setTimeout(() => URL.revokeObjectURL(url), 1_000);
}
