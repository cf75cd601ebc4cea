// The apps this server calls or that connect to it: where they are, what they speak, and how their last register went.
import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { ApiError } from "../../api/client.ts";
import { useStatus } from "../../api/status.ts";
import { say } from "../../frame/messages.ts";
import { PageTitle } from "../../frame/page-title.tsx";
import { ActButton, Button } from "../../parts/button.tsx";
import { Copy } from "../../parts/copy.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Empty } from "../../parts/empty.tsx";
import { ErrorPart } from "../../parts/error-part.tsx";
import { TextField } from "../../parts/field.tsx";
import { Note } from "../../parts/note.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { StateIcon } from "../../parts/state-icon.tsx";
import { Table } from "../../parts/table.tsx";
import { Time } from "../../parts/time.tsx";
import { visibleText } from "../../parts/visible-text.ts";
import { forgetFunctions } from "../functions/function-data.ts";
import { type App, addApp, useApps } from "./app-data.ts";
import "./apps.css";

export function Page() {
  const { data, error, refetch } = useApps();
  const [isAdding, setAdding] = useState(false);
  const { data: status } = useStatus();
  // Mounted beside an application's own engine, functions are that program's: there is nobody to call.
  const add = status?.isMounted === false ? <ActButton onClick={() => setAdding(true)}>Add an app</ActButton> : null;
  return (
    <>
      <PageTitle title="Apps" />
      {data !== undefined && data.length > 0 && <Headline apps={data} actions={add} />}
      <section className="card">
        {error !== null && data === undefined ? (
          <ErrorPart error={error} what="The apps could not be read. Runs go on." onRetry={() => void refetch()} />
        ) : data === undefined ? (
          <Skeleton rows={3} />
        ) : data.length === 0 && status?.isMounted === true ? (
          <Empty title="The functions are this application's own">
            <p>They live in the program around these pages, which calls nobody and is called by nobody.</p>
          </Empty>
        ) : data.length === 0 ? (
          <Empty title="No app calls this server, and none is called by it">
            <p>
              Functions that live in the server's own process need none. Start your app with this server's address, or
              add it by its URL:
            </p>
            <pre>
              {`IDEM_SERVER=${status?.origin ?? location.origin} node app.js\nINNGEST_DEV=${status?.origin ?? location.origin} node app.js  # of the Inngest SDK`}
            </pre>
            {add}
          </Empty>
        ) : (
          <Apps apps={data} />
        )}
      </section>
      {isAdding && <AddApp onClose={() => setAdding(false)} />}
    </>
  );
}

function Headline({ apps, actions }: { readonly apps: readonly App[]; readonly actions: ReactNode }) {
  const broken = apps.filter(({ error }) => error !== null);
  const gone = apps.filter(({ workers }) => workers === 0);
  if (broken.length > 0) {
    return (
      <Note tone="failed" title={`${broken.map(({ app }) => app).join(", ")} could not be reached`} actions={actions}>
        Runs wait and go on once it answers. Nothing is lost.
      </Note>
    );
  }
  if (gone.length > 0)
    return (
      <Note
        tone="waiting"
        title={`No worker of ${gone.map(({ app }) => app).join(", ")} is connected`}
        actions={actions}
      />
    );
  return (
    <Note
      tone="good"
      title={apps.length === 1 ? "The app answers" : `All ${apps.length} apps answer`}
      actions={actions}
    />
  );
}

function Apps({ apps }: { readonly apps: readonly App[] }) {
  return (
    <Table
      label="Apps"
      rows={apps}
      idOf={({ app, url }) => `${app} ${url}`}
      columns={[
        {
          name: "App",
          cell: ({ app, appVersion }) => (
            <span>
              <b>{visibleText(app)}</b>{" "}
              {appVersion !== null && <span className="quiet">{visibleText(appVersion)}</span>}
            </span>
          ),
        },
        {
          name: "Address",
          cell: ({ url }) =>
            url === null ? (
              <span className="quiet">it connects to this server</span>
            ) : (
              <span className="app-url">
                <code>{visibleText(url)}</code>
                <Copy text={url} what="the address" />
              </span>
            ),
        },
        {
          name: "SDK",
          cell: ({ sdk, framework }) => (
            <span className="quiet">
              {[sdk, framework]
                .filter((each) => each !== null)
                .map((each) => visibleText(each!))
                .join(", ") || "it did not say"}
            </span>
          ),
        },
        {
          name: "Functions",
          isNumber: true,
          cell: ({ functionCount }) => <Link to="/functions">{functionCount}</Link>,
        },
        {
          name: "Workers",
          isNumber: true,
          cell: ({ workers }) =>
            workers === null ? (
              <span className="faint">called by URL</span>
            ) : (
              <span className={workers === 0 ? "waiting" : ""}>{workers}</span>
            ),
        },
        {
          name: "Last register",
          cell: ({ syncedAt, error }) => (
            <span>
              {syncedAt === null ? <span className="faint">never</span> : <Time at={syncedAt} as="ago" />}
              {error !== null && (
                <span className="failed app-error">
                  <StateIcon state="failed" size={14} words={false} />
                  {visibleText(error)}
                </span>
              )}
            </span>
          ),
        },
      ]}
    />
  );
}

function AddApp({ onClose }: { readonly onClose: () => void }) {
  const [url, setUrl] = useState("");
  const [error, setError] = useState<string | null>(null);
  const [isActing, setActing] = useState(false);
  const queries = useQueryClient();
  const add = async () => {
    setActing(true);
    setError(null);
    try {
      const { modified, app } = await addApp(url.trim());
      say(
        modified
          ? `${app?.app ?? "The app"} is registered with ${app?.functionCount ?? "its"} functions. It is in the audit.`
          : "Its functions were registered already.",
      );
      await Promise.all([queries.invalidateQueries({ queryKey: ["apps"] }), forgetFunctions(queries)]);
      onClose();
    } catch (failure) {
      setError(
        failure instanceof ApiError
          ? [failure.detail, failure.next].filter((each) => each !== null).join(". ")
          : String(failure),
      );
      setActing(false);
    }
  };
  return (
    <Dialog title="Add an app" onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (url.trim() !== "" && !isActing) void add();
        }}
      >
        <TextField
          label="Serve address"
          hint="Such as http://localhost:3000/api/inngest. It is asked for its functions; none of them starts."
          value={url}
          onChange={setUrl}
          error={error}
          focusFirst
        />
        <div className="button-row is-end">
          <Button onClick={onClose}>Not now</Button>
          <ActButton type="submit" look="primary" disabled={url.trim() === "" || isActing}>
            Ask it for its functions
          </ActButton>
        </div>
      </form>
    </Dialog>
  );
}
