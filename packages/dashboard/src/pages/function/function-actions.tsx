// Pause, resume and invoke: what each does, and what it does not.
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { type Answer, ask, type Body } from "../../api/client.ts";
import { say } from "../../frame/messages.ts";
import { ActButton } from "../../parts/button.tsx";
import { AskFirst } from "../../parts/dialog.tsx";
import { type Choice, SelectField } from "../../parts/field.tsx";
import { type FunctionInFigures, forgetFunctions } from "../functions/function-data.ts";
import { Invoke } from "./invoke.tsx";

export function FunctionActions({ of }: { readonly of: FunctionInFigures }) {
  const [asking, setAsking] = useState<"pause" | "resume" | "invoke" | null>(null);
  const queries = useQueryClient();
  const { function: fn, id, pausedAt } = of;
  const close = () => setAsking(null);
  const pause = async (reason: string) => {
    await ask("POST /api/functions/:function/pause", {
      params: { function: fn },
      body: reason === "" ? {} : { reason },
    });
    say(`${id} is paused: it starts no runs, its events are kept. It is in the audit.`);
    await forgetFunctions(queries);
  };
  return (
    <div className="button-row">
      {pausedAt === null ? (
        <ActButton onClick={() => setAsking("pause")}>Pause</ActButton>
      ) : (
        <ActButton onClick={() => setAsking("resume")}>Resume</ActButton>
      )}
      <ActButton onClick={() => setAsking("invoke")}>Invoke</ActButton>
      {asking === "pause" && (
        <AskFirst title={`Pause ${id}?`} action={`Pause ${id}`} reason="offered" onAct={pause} onClose={close}>
          It starts no runs until it is resumed. Its events are kept, and you decide then what becomes of them. Runs
          that are open go on.
        </AskFirst>
      )}
      {asking === "resume" && <Resume of={of} onClose={close} />}
      {asking === "invoke" && <Invoke of={of} onClose={close} />}
    </div>
  );
}

type Waiting = NonNullable<Body<"POST /api/functions/:function/resume">["waiting"]>;

const choices: readonly Choice<Waiting>[] = [
  { value: "keep", text: "Keep them: each waits for a person" },
  { value: "release", text: "Start what they would have started, the oldest first" },
  { value: "drop", text: "Let go of them: nothing starts" },
];

function Resume({
  of: { function: fn, id, pending },
  onClose,
}: {
  readonly of: FunctionInFigures;
  readonly onClose: () => void;
}) {
  const [waiting, setWaiting] = useState<Waiting>("keep");
  const queries = useQueryClient();
  const resume = async (reason: string) => {
    let decided = 0;
    let next: number | null = null;
    // A request decides a bounded number of events; the last one resumes the function.
    do {
      const answer: Answer<"POST /api/functions/:function/resume"> = await ask("POST /api/functions/:function/resume", {
        params: { function: fn },
        body: { waiting, ...(reason === "" ? {} : { reason }), ...(next === null ? {} : { next }) },
      });
      decided += answer.decided;
      next = answer.next;
    } while (next !== null);
    const what =
      waiting === "keep"
        ? ""
        : ` ${decided} ${decided === 1 ? "event was" : "events were"} ${waiting === "release" ? "released" : "dropped"}.`;
    say(`${id} starts runs again.${what} It is in the audit.`);
    await forgetFunctions(queries);
  };
  const some = pending.paused;
  return (
    <AskFirst title={`Resume ${id}?`} action={`Resume ${id}`} reason="offered" onAct={resume} onClose={onClose}>
      <p>It starts runs for events that arrive from now on.</p>
      {some > 0 && (
        <SelectField
          label={`${some}${pending.isAll ? "" : " or more"} ${some === 1 ? "event" : "events"} came while it was paused`}
          value={waiting}
          choices={choices}
          onChange={setWaiting}
        />
      )}
    </AskFirst>
  );
}
