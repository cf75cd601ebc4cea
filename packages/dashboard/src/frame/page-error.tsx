import { ErrorPart } from "../parts/error-part.tsx";
import { PageTitle } from "./page-title.tsx";

/** A page that broke; the frame around it stands. */
export function PageError({ error, reset }: { readonly error: unknown; readonly reset: () => void }) {
  return (
    <>
      <PageTitle title="This page broke" />
      <section className="card">
        <ErrorPart error={error} what="This page broke while it was drawn. Runs go on." onRetry={reset} />
      </section>
    </>
  );
}
