// Connecting an app: the code to write, of four kinds, or its address.
import { useState } from "react";
import { ask } from "../../api/client.ts";
import type { Status } from "../../api/status.ts";
import { say } from "../../frame/messages.ts";
import { ActButton } from "../../parts/button.tsx";
import { Copy } from "../../parts/copy.tsx";
import { TextField } from "../../parts/field.tsx";
import { useNow } from "../../parts/now.ts";
import { visibleText } from "../../parts/visible-text.ts";
import { problemWords } from "../run/run-queries.ts";
import type { Progress, TriedPort } from "./first-minutes-data.ts";
import { appKinds, embeddedKind, embeddedNote } from "./snippets.ts";

export function ConnectApp({ progress, status }: { readonly progress: Progress; readonly status: Status | undefined }) {
  const isMounted = status?.isMounted === true;
  const kinds = isMounted ? [embeddedKind] : [...appKinds(status?.origin ?? ""), embeddedKind];
  const [chosen, setChosen] = useState(kinds[0]!.name);
  const kind = kinds.find(({ name }) => name === chosen) ?? kinds[0]!;
  return (
    <>
      {kinds.length > 1 && (
        <fieldset className="first-kinds">
          <legend className="spoken">Kind of app</legend>
          {kinds.map(({ name }) => (
            <button key={name} type="button" aria-pressed={name === kind.name} onClick={() => setChosen(name)}>
              {name}
            </button>
          ))}
        </fieldset>
      )}
      {!isMounted && kind === embeddedKind && <p className="quiet">{embeddedNote}</p>}
      {kind.snippets.map(({ file, text }) => (
        <figure key={file} className="snippet">
          <figcaption className="mono quiet">
            {file} <Copy text={text} what={file} />
          </figcaption>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls sideways must be reachable by keys */}
          <pre tabIndex={0}>{text.trimEnd()}</pre>
        </figure>
      ))}
      {!isMounted && kind !== embeddedKind && <ByAddress />}
      <Tried tried={progress.tried} />
    </>
  );
}

/** For an app on another port or machine than those that are looked at. */
function ByAddress() {
  const [url, setUrl] = useState("http://127.0.0.1:3000/api/idem");
  const [failure, setFailure] = useState<string | null>(null);
  const [isActing, setActing] = useState(false);
  const connect = async () => {
    setActing(true);
    setFailure(null);
    try {
      await ask("POST /api/apps", { body: { url } });
      say(`Connected ${visibleText(url)}. It is in the audit.`);
    } catch (error) {
      setFailure(problemWords(error));
    }
    setActing(false);
  };
  return (
    <form
      className="first-address"
      onSubmit={(event) => {
        event.preventDefault();
        void connect();
      }}
    >
      <TextField
        label="It runs, and nothing happens? Its address"
        value={url}
        onChange={setUrl}
        error={failure === null ? null : visibleText(failure)}
      />
      <ActButton type="submit" disabled={isActing}>
        Connect it
      </ActButton>
    </form>
  );
}

// Long enough to have started an app, short enough that nobody has given up.
const patienceMs = 60_000;

/** After a minute without an app: which ports were tried and what they answered. */
function Tried({ tried }: { readonly tried: readonly TriedPort[] }) {
  const [opened] = useState(() => Date.now());
  const now = useNow(opened + patienceMs);
  if (tried.length === 0 || now - opened < patienceMs) return null;
  const others = tried.filter(({ answered }) => answered === "other").map(({ port }) => port);
  const nobody = tried.filter(({ answered }) => answered === "nobody").map(({ port }) => port);
  return (
    <p className="quiet" role="status">
      No app was found on this machine.
      {others.length > 0 &&
        ` On ${portWords(others)} something answers that is no app: is it served under /api/idem or /api/inngest?`}
      {nobody.length > 0 && ` Nobody listens on ${portWords(nobody)}.`}
    </p>
  );
}

/** "3000 to 3010, 5173 and 8080" */
export function portWords(ports: readonly number[]): string {
  const spans: [number, number][] = [];
  for (const port of ports) {
    const last = spans.at(-1);
    if (last !== undefined && port === last[1] + 1) last[1] = port;
    else spans.push([port, port]);
  }
  const words = spans.map(([from, to]) => (from === to ? `${from}` : `${from} to ${to}`));
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}
