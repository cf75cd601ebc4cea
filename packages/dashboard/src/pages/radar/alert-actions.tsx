// A person's actions on an alert. Each asks for a reason; the alert and the audit keep it.
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ask, type Body, downloadOf } from "../../api/client.ts";
import { useMayAct } from "../../api/session.ts";
import { addressOf } from "../../base-path.ts";
import { say } from "../../frame/messages.ts";
import { useKeys } from "../../keys.ts";
import { ActButton, Button, cannotAct } from "../../parts/button.tsx";
import { AskFirst, Dialog } from "../../parts/dialog.tsx";
import { SelectField } from "../../parts/field.tsx";
import { Icon } from "../../parts/icon.tsx";
import type { Alert } from "./radar-data.ts";

type Verdict = Body<"POST /api/radar/alerts/:alert/mute">;
type Asked = "acknowledge" | "mute" | "close" | "export";

const muteChoices = [
  { value: "1d", text: "for a day" },
  { value: "7d", text: "for 7 days" },
  { value: "30d", text: "for 30 days" },
  { value: "", text: "for good" },
];

interface AlertActionsProps {
  readonly alert: Alert;
  /** For the one alert on the page that the letters speak of. */
  readonly hasKeys: boolean;
  /** On its own page: it can be closed by hand, too. */
  readonly isWhole: boolean;
}

export function AlertActions({ alert, hasKeys, isWhole }: AlertActionsProps) {
  const [asked, setAsked] = useState<Asked | null>(null);
  const [muteFor, setMuteFor] = useState("7d");
  const mayAct = useMayAct();
  const queries = useQueryClient();
  const isClosed = alert.state === "closed";
  const canAsk = mayAct && !isClosed;
  useKeys(
    hasKeys && canAsk
      ? [
          { keys: "a", words: "Acknowledge the alert", run: () => setAsked("acknowledge") },
          { keys: "m", words: "Mute the alert", run: () => setAsked("mute") },
        ]
      : [],
  );
  const judge = async (verdict: "acknowledge" | "mute" | "close", body: Verdict, done: string) => {
    await ask(`POST /api/radar/alerts/:alert/${verdict}`, { params: { alert: alert.id }, body });
    say(`${done} The audit has it.`, { link: { text: "Audit", href: addressOf("audit") } });
    await queries.invalidateQueries({ queryKey: ["radar"] });
  };
  const close = () => setAsked(null);
  return (
    <div className="alert-actions">
      {!isClosed && (
        <>
          {alert.state !== "acknowledged" && <ActButton onClick={() => setAsked("acknowledge")}>Acknowledge</ActButton>}
          <ActButton onClick={() => setAsked("mute")}>Mute</ActButton>
          {isWhole && <ActButton onClick={() => setAsked("close")}>Close</ActButton>}
        </>
      )}
      <Button onClick={() => setAsked("export")}>Export</Button>
      {!mayAct && <span className="role-words">{cannotAct}.</span>}
      {asked === "acknowledge" && (
        <AskFirst
          title="Acknowledge this alert"
          action="Acknowledge the alert"
          reason="demanded"
          onAct={(reason) => judge("acknowledge", { reason }, "Acknowledged.")}
          onClose={close}
        >
          <p>Others see that you know. New pairs still join it. Runs are not touched.</p>
        </AskFirst>
      )}
      {asked === "mute" && (
        <AskFirst
          title="Mute this alert"
          action="Mute the alert"
          reason="demanded"
          onAct={(reason) => judge("mute", muteFor === "" ? { reason } : { reason, for: muteFor }, "Muted.")}
          onClose={close}
        >
          <p>
            Pairs are still counted, and nobody is told of them. Nothing else stops: what runs twice goes on running
            twice.
          </p>
          <SelectField label="How long" value={muteFor} onChange={setMuteFor} choices={muteChoices} />
        </AskFirst>
      )}
      {asked === "close" && (
        <AskFirst
          title="Close this alert"
          action="Close the alert"
          reason="demanded"
          onAct={(reason) => judge("close", { reason }, "Closed.")}
          onClose={close}
        >
          <p>It moves to the history. The next pair opens another alert.</p>
        </AskFirst>
      )}
      {asked === "export" && (
        <Dialog title="Export the pairs" onClose={close}>
          <p className="quiet">Every pair with what the steps of both gave, for whoever puts things right.</p>
          <div className="button-row">
            {(["md", "csv"] as const).map((format) => (
              <a
                key={format}
                className="button is-plain"
                href={downloadOf("/api/radar/alerts/:alert/export", { alert: alert.id }, { format })}
                download={`alert-${alert.id}.${format}`}
                onClick={close}
              >
                <Icon name="download" />
                {format === "md" ? "Markdown, to read" : "CSV, to count"}
              </a>
            ))}
          </div>
        </Dialog>
      )}
    </div>
  );
}
