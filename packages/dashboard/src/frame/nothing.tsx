import { Link } from "@tanstack/react-router";
import { Empty } from "../parts/empty.tsx";
import { places } from "./navigation.ts";
import { PageTitle } from "./page-title.tsx";

export function Nothing() {
  const [first] = places;
  return (
    <>
      <PageTitle title="Nothing here" />
      <section className="card">
        <Empty title="Nothing here">
          <p>This address leads to no page. Runs, events and keys go on as before.</p>
          {first !== undefined && (
            <Link className="button is-plain" to={first.to}>
              Go to {first.text}
            </Link>
          )}
        </Empty>
      </section>
    </>
  );
}
