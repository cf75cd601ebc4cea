// Send a test event, once or twice, and see on the spot what is decided.
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { ApiError, ask, getText } from "../../api/client.ts";
import { say } from "../../frame/messages.ts";
import { PageTitle } from "../../frame/page-title.tsx";
import { ActButton, Button } from "../../parts/button.tsx";
import { DataEditor } from "../../parts/data-form/data-editor.tsx";
import { useEventTypes } from "../../parts/data-form/event-types.ts";
import { useDataEntry } from "../../parts/data-form/use-data-entry.ts";
import { SelectField, TextField } from "../../parts/field.tsx";
import { dataPath, sendEvent } from "./event-story.ts";
import { savedPayloads, savePayload } from "./saved-payloads.ts";
import { SentAnswers, type SentOnce } from "./sent-answers.tsx";
import "./event.css";

const emptyData = '{\n  "id": 7\n}';

export function Page() {
  const search = useSearch({ from: "/events/new" });
  const navigate = useNavigate({ from: "/events/new" });
  const [name, setName] = useState(search.name ?? "");
  const [id, setId] = useState("");
  const [answers, setAnswers] = useState<readonly SentOnce[]>([]);
  const [error, setError] = useState<string | null>(null);
  const [isSending, setSending] = useState(false);
  const { data: types = [] } = useEventTypes();
  const wanted = name.trim();
  const entry = useDataEntry(types.find((each) => each.name === wanted)?.schema ?? null, emptyData);
  useBeginning(search, (given) => {
    setName(given.name);
    entry.setText(given.data);
  });
  const isReady = wanted !== "" && entry.unreadable === null && !isSending;

  const send = async (times: 1 | 2) => {
    if (entry.tellFirst()) return;
    setSending(true);
    setError(null);
    setAnswers([]);
    // Twice with one id: what the event's own key does is seen at once.
    const sentId = id.trim() === "" && times === 2 ? `test-${crypto.randomUUID().slice(0, 8)}` : id.trim();
    try {
      for (let time = 1; time <= times; time++) {
        const sent = await sendEvent({ name: wanted, id: sentId, data: entry.text });
        setAnswers((before) => [...before, { time, id: sentId, sent }]);
      }
    } catch (failure) {
      setError(
        failure instanceof ApiError
          ? `${failure.detail}.${failure.next === null ? "" : ` ${failure.next}.`}`
          : String(failure),
      );
    }
    setSending(false);
  };

  return (
    <>
      <PageTitle title="Send a test event" under={{ to: "/events", text: "Events" }} />
      <div className="new-event">
        <form
          className="card"
          onSubmit={(event) => {
            event.preventDefault();
            if (isReady) void send(1);
          }}
        >
          <div className="card-body">
            <TextField
              label="Name"
              hint="Functions whose trigger has this name are asked"
              value={name}
              onChange={setName}
              list={types.map((each) => each.name)}
            />
            <DataEditor entry={entry} rows={10}>
              <Button small disabled={wanted === ""} onClick={() => void fillFromLast(wanted, entry.setText)}>
                Fill from the last {wanted === "" ? "event of this name" : wanted}
              </Button>
            </DataEditor>
            <TextField
              label="Id (optional)"
              hint="Within 24 hours the same id starts nothing again"
              value={id}
              onChange={setId}
            />
            {error !== null && (
              <p className="failed" role="alert">
                {error}
              </p>
            )}
            <div className="button-row">
              <ActButton type="submit" look="primary" disabled={!isReady}>
                {entry.isTold ? "Send anyway" : "Send"}
              </ActButton>
              <ActButton disabled={!isReady} onClick={() => void send(2)}>
                {entry.isTold ? "Send it twice anyway" : "Send it twice"}
              </ActButton>
            </div>
          </div>
        </form>
        <div className="stack">
          <SentAnswers answers={answers} />
          <Saved
            name={name}
            data={entry.text}
            chosen={search.saved}
            onChoose={(saved) => void navigate({ search: (now) => ({ ...now, from: undefined, saved }) })}
          />
        </div>
      </div>
    </>
  );
}

/** The newest event of that name: data that was meant, whether a schema describes it or not. */
async function fillFromLast(name: string, setData: (data: string) => void): Promise<void> {
  try {
    const { events } = await ask("GET /api/events", { query: { name, limit: 1 } });
    const [last] = events;
    if (last === undefined) say(`No event ${name} was received yet`);
    else setData(pretty(await getText(dataPath(last.internalId))));
  } catch (error) {
    say(error instanceof Error ? error.message : String(error));
  }
}

/** Laid out for editing only when nothing is lost by it: a number JavaScript cannot hold would be another one. */
function pretty(text: string): string {
  const value = JSON.parse(text) as unknown;
  return JSON.stringify(value) === text ? JSON.stringify(value, null, 2) : text;
}

function useBeginning(
  search: { readonly from?: string | undefined; readonly saved?: string | undefined },
  begin: (given: { name: string; data: string }) => void,
): void {
  const { from, saved } = search;
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is typed since must stay; only another address begins anew
  useEffect(() => {
    const kept = savedPayloads().find(({ label }) => label === saved);
    if (kept !== undefined) begin(kept);
    if (from === undefined) return;
    const ofEvent = new AbortController();
    const { signal } = ofEvent;
    Promise.all([ask("GET /api/events/:event", { params: { event: from }, signal }), getText(dataPath(from), signal)])
      .then(([{ event }, text]) => begin({ name: event.name, data: pretty(text) }))
      .catch((error: unknown) => {
        if (!ofEvent.signal.aborted) say(error instanceof Error ? error.message : String(error));
      });
    return () => ofEvent.abort();
  }, [from, saved]);
}

function Saved({
  name,
  data,
  chosen,
  onChoose,
}: {
  readonly name: string;
  readonly data: string;
  readonly chosen: string | undefined;
  readonly onChoose: (label: string) => void;
}) {
  const [label, setLabel] = useState("");
  const [all, setAll] = useState(savedPayloads);
  const save = () => {
    const done = savePayload({ label: label.trim(), name: name.trim(), data });
    say(done ? `Saved as ${label.trim()}, in this browser` : "This browser has no room for it");
    setAll(savedPayloads());
    setLabel("");
  };
  return (
    <section className="card">
      <header>
        <h2>Saved payloads</h2>
      </header>
      <div className="card-body">
        {all.length > 0 && (
          <SelectField
            label="Use one"
            value={chosen ?? ""}
            choices={[
              { value: "", text: "choose" },
              ...all.map((each) => ({ value: each.label, text: `${each.label} (${each.name})` })),
            ]}
            onChange={(value) => value !== "" && onChoose(value)}
          />
        )}
        <div className="side-by-side">
          <TextField label="Save this one as" value={label} onChange={setLabel} />
          <Button disabled={label.trim() === "" || name.trim() === ""} onClick={save}>
            Save
          </Button>
        </div>
      </div>
    </section>
  );
}
