// No rows: because nothing ran yet, or because the filter lets none through.
import { Link } from "@tanstack/react-router";
import { Empty } from "../../parts/empty.tsx";
import { numberWords } from "./group-words.ts";
import type { RunsView } from "./runs-view.ts";
import { useTotals } from "./use-totals.ts";

const whole = { since: "90d" };

export function NothingHere({ view }: { readonly view: RunsView }) {
  const { data: totals } = useTotals(whole);
  const without = (totals?.first ?? 0) + (totals?.slipped ?? 0);
  if (without > 0) {
    return (
      <Empty title="No run matches">
        <p>
          {numberWords(without)} {without === 1 ? "does" : "do"} without the filter
          {view.isFiltered ? "" : ", in the last 90 days"}.
        </p>
        {view.isFiltered ? (
          <button type="button" className="button is-plain" onClick={view.clear}>
            Clear the filter
          </button>
        ) : (
          <Link className="button is-plain" to="/runs" search={{ since: "90d" }}>
            Show the last 90 days
          </Link>
        )}
      </Empty>
    );
  }
  return (
    <Empty title="Nothing has run yet">
      <p>Send a test event, or paste this line into your app:</p>
      <pre>{'await idem.send({ name: "order/paid", id: "order-7", data: { total: 10 } });'}</pre>
      <Link className="button is-primary" to="/events/new">
        Send a test event
      </Link>
    </Empty>
  );
}
