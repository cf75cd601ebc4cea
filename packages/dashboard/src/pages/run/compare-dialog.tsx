// Chooses another run to put beside this one: of its key, of its function, or any by its id.
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { ask } from "../../api/client.ts";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { SelectField, TextField } from "../../parts/field.tsx";
import { visibleText } from "../../parts/visible-text.ts";
import { useRunChoices } from "../compare/run-choices.ts";
import type { GroupItem, RunDetail } from "./run-data.ts";
import { problemWords } from "./run-queries.ts";

interface CompareDialogProps {
  readonly run: RunDetail;
  readonly group: GroupItem | undefined;
  readonly onClose: () => void;
}

export function CompareDialog({ run, group, onClose }: CompareDialogProps) {
  const navigate = useNavigate();
  const choices = useRunChoices(run, group).filter(({ value }) => value !== run.id);
  const [chosen, setChosen] = useState<string | null>(null);
  const [typed, setTyped] = useState("");
  const [failure, setFailure] = useState<string | null>(null);
  const other = typed.trim() !== "" ? typed.trim() : (chosen ?? choices[0]?.value ?? null);
  const go = async () => {
    if (other === null) return;
    try {
      // An id that nobody knows is said here, where it can be mended.
      await ask("GET /api/runs/:run", { params: { run: other } });
      await navigate({ to: "/runs/$run/compare/$other", params: { run: run.id, other } });
    } catch (error) {
      setFailure(problemWords(error));
    }
  };
  return (
    <Dialog title={`Compare this run of ${visibleText(run.function)}`} onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void go();
        }}
      >
        {choices.length > 0 && (
          <SelectField label="With" value={chosen ?? choices[0]!.value} onChange={setChosen} choices={choices} />
        )}
        <TextField
          label={choices.length > 0 ? "Or with any run, by its id" : "With a run, by its id"}
          value={typed}
          onChange={setTyped}
          error={failure === null ? null : visibleText(failure)}
        />
        <div className="button-row is-end">
          <Button onClick={onClose}>Not now</Button>
          <Button type="submit" look="primary" disabled={other === null || other === run.id}>
            Compare the two
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
