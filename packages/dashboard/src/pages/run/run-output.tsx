// What the run returned, or what it ended with.
import { StoredPayload } from "../../parts/payload.tsx";
import { ErrorView } from "./error-view.tsx";
import type { RunDetail } from "./run-data.ts";
import { outputPath } from "./run-queries.ts";
import "./run-output.css";

export function RunOutput({ run }: { readonly run: RunDetail }) {
  if (run.output === null && run.error === null) return null;
  return (
    <section className="card run-output" aria-label={run.error === null ? "Output" : "Error"}>
      <header>
        <h2>
          {run.error === null ? "Output" : run.state === "cancelled" ? "Why it was cancelled" : "What it ended with"}
        </h2>
      </header>
      <div className="inner">
        {run.error !== null ? (
          <ErrorView error={run.error} />
        ) : (
          <StoredPayload path={outputPath(run.id)} bytes={run.output!.bytes} name={`output-${run.id}`} />
        )}
      </div>
    </section>
  );
}
