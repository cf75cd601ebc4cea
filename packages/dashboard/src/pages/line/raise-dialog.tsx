// Asks how many at once, for how long and why; says what it will do, and what it will not.
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ask } from "../../api/client.ts";
import { say } from "../../frame/messages.ts";
import { AskFirst } from "../../parts/dialog.tsx";
import { SelectField, TextField } from "../../parts/field.tsx";
import type { LineAnswer, LineLimit } from "./line-data.ts";
import { raiseWords } from "./raise-words.ts";

const lengths = [
  { value: "15m", text: "15 minutes" },
  { value: "1h", text: "an hour" },
  { value: "4h", text: "4 hours" },
  { value: "24h", text: "a day" },
  { value: "7d", text: "a week" },
] as const;

interface LimitDialogProps {
  readonly of: LineAnswer;
  readonly limit: LineLimit;
  readonly which: number;
  readonly onClose: () => void;
}

export function RaiseDialog({ of, limit: { limit, own }, which, onClose }: LimitDialogProps) {
  const [text, setText] = useState(`${limit * 2}`);
  const [length, setLength] = useState<(typeof lengths)[number]["value"]>("1h");
  const queries = useQueryClient();
  const count = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  const effect = raiseWords(of.line, limit, count);
  return (
    <AskFirst
      title={`Another limit for ${of.id}, for a while`}
      action={count < own ? `Lower it to ${count}` : `Raise it to ${count}`}
      isReady={count >= 1}
      reason="demanded"
      onAct={async (reason) => {
        const body = { concurrency: count, for: length, which, reason };
        await ask("PUT /api/functions/:function/limit", { params: { function: of.function }, body });
        say(`${count} runs of ${of.id} may be at work at once. It ends by itself. The audit has it.`);
        await queries.invalidateQueries({ queryKey: ["function-line"] });
      }}
      onClose={onClose}
    >
      <div className="stack">
        <TextField
          label="Runs at work at once"
          inputMode="decimal"
          hint={effect ?? `Its own limit is ${own}`}
          error={count >= 1 ? null : "A whole number of at least 1. To start no runs at all, pause the function"}
          value={text}
          onChange={setText}
        />
        <SelectField label="For" value={length} choices={lengths} onChange={setLength} />
        <p>
          Those in line come in as far as there is room, on every node. Nobody at work is stopped, now or at the end.
          Then {own} counts again by itself, or what the code says by then.
        </p>
      </div>
    </AskFirst>
  );
}

export function EndDialog({ of, limit: { own }, which, onClose }: LimitDialogProps) {
  const queries = useQueryClient();
  return (
    <AskFirst
      title={`Let the own limit of ${of.id} count again`}
      action={`Back to ${own}`}
      reason="demanded"
      onAct={async (reason) => {
        const params = { function: of.function };
        await ask("DELETE /api/functions/:function/limit", { params, body: { which, reason } });
        say(`${own} runs of ${of.id} may be at work at once, as configured. The audit has it.`);
        await queries.invalidateQueries({ queryKey: ["function-line"] });
      }}
      onClose={onClose}
    >
      <p>Nobody at work is stopped. Those in line begin once fewer than {own} are at work.</p>
    </AskFirst>
  );
}
