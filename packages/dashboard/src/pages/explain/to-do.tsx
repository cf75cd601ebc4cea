// At most three things to do, and the way to each.
import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { ask } from "../../api/client.ts";
import { say } from "../../frame/messages.ts";
import { hasPage } from "../../pages.ts";
import { ActButton, Button, buttonClass } from "../../parts/button.tsx";
import { copyText } from "../../parts/copy.tsx";
import { AskFirst, Dialog } from "../../parts/dialog.tsx";
import { visibleText } from "../../parts/visible-text.ts";
import { claimName } from "../keys/claim-name.ts";
import type { StoryTodo } from "./story-data.ts";
import "./aside.css";

export function ToDo({ todo }: { readonly todo: readonly StoryTodo[] }) {
  if (todo.length === 0) return null;
  return (
    <section className="card to-do">
      <h2>What to do now</h2>
      <ol>
        {todo.map((each) => (
          <li key={each.does}>
            <div>
              {visibleText(each.text)}
              <br />
              <Way todo={each} />
            </div>
          </li>
        ))}
      </ol>
    </section>
  );
}

const small = buttonClass("plain", true);

function Way({ todo }: { readonly todo: StoryTodo }): ReactNode {
  const { does, label, id, other } = todo;
  switch (does) {
    case "cancel-run":
      return <CancelRun id={id} label={label} />;
    case "add-key":
      return hasPage("/radar/suggestions/$fn") ? (
        <Link className={small} to="/radar/suggestions/$fn" params={{ fn: id }}>
          {label}
        </Link>
      ) : (
        <ShowLine label={label} title="Give this function a key" line={other ?? 'idempotency: "event.data.…",'}>
          Paste this line into the function's configuration, beside its id. Whoever asks again with the same value is
          then answered with the first run.
        </ShowLine>
      );
    case "send-key":
      return other !== null ? (
        <ShowLine label={label} title="Send a key of your own" line={other}>
          Idem passes no key to steps of an Inngest SDK app. A key made from the event is the same in every attempt, so
          a service that takes idempotency keys returns its first result.
        </ShowLine>
      ) : (
        <ShowLine label={label} title="Send the step's key" line={sendKeyLine}>
          Each step gets a key that is the same whenever it is tried again. A service that takes idempotency keys
          returns what it made the first time.
        </ShowLine>
      );
    case "compare":
      return (
        <Link className={small} to="/runs/$run/compare/$other" params={{ run: id, other: other! }}>
          {label}
        </Link>
      );
    case "open-run":
      return (
        <Link className={small} to="/runs/$run" params={{ run: id }}>
          {label}
        </Link>
      );
    case "open-event":
      return (
        <Link className={small} to="/events/$event" params={{ event: id }}>
          {label}
        </Link>
      );
    case "open-key":
      return (
        <Link
          className={small}
          to="/keys/$claim"
          params={{ claim: claimName({ scope: `fn:${other ?? ""}`, key: id }) }}
        >
          {label}
        </Link>
      );
    case "open-function":
      return (
        <Link className={small} to="/functions/$fn" params={{ fn: id }}>
          {label}
        </Link>
      );
  }
}

const sendKeyLine = `await step.run("create-draft", ({ key }) =>
  stripe.invoices.create(draft, { idempotencyKey: key }),
);`;

function ShowLine({
  label,
  title,
  line,
  children,
}: {
  readonly label: string;
  readonly title: string;
  readonly line: string;
  readonly children: ReactNode;
}) {
  const [isOpen, setOpen] = useState(false);
  const copy = async () => {
    const done = await copyText(line);
    say(done ? "Copied the line" : "This browser did not let the page copy. Select the text instead.", { brief: true });
  };
  return (
    <>
      <Button small onClick={() => setOpen(true)}>
        {label}
      </Button>
      {isOpen && (
        <Dialog title={title} onClose={() => setOpen(false)}>
          <p className="quiet">{children}</p>
          <pre className="line-to-paste">
            {visibleText(line) === line ? line : line.split("\n").map(visibleText).join("\n")}
          </pre>
          <div className="button-row is-end">
            <Button onClick={() => setOpen(false)}>Close</Button>
            <Button look="primary" onClick={() => void copy()}>
              Copy the line
            </Button>
          </div>
        </Dialog>
      )}
    </>
  );
}

function CancelRun({ id, label }: { readonly id: string; readonly label: string }) {
  const [isAsking, setAsking] = useState(false);
  const queries = useQueryClient();
  const cancel = async (reason: string) => {
    const { cancelled, state } = await ask("POST /api/runs/:run/cancel", {
      params: { run: id },
      body: reason === "" ? {} : { reason },
    });
    say(
      cancelled
        ? `${label}: done. Steps that finished stay finished. It is in the audit.`
        : `The run was ${state} already.`,
    );
    await queries.invalidateQueries({ queryKey: ["story"] });
  };
  return (
    <>
      <ActButton small onClick={() => setAsking(true)}>
        {label}
      </ActButton>
      {isAsking && (
        <AskFirst title={`${label}?`} action={label} reason="offered" onAct={cancel} onClose={() => setAsking(false)}>
          It does nothing more. Steps that finished stay finished, and what they made at others is not deleted. The
          other runs go on.
        </AskFirst>
      )}
    </>
  );
}
