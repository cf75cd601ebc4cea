// Things that need a person, worst first, one button each; or that nothing does.
import { Link } from "@tanstack/react-router";
import { Glyph } from "../../parts/glyph.tsx";
import { Note } from "../../parts/note.tsx";
import { useNow } from "../../parts/now.ts";
import { StateIcon } from "../../parts/state-icon.tsx";
import { counted, numberWords } from "../runs/group-words.ts";
import { endedIn, type Overview } from "./overview-data.ts";
import { type Trouble, troublesOf } from "./overview-words.ts";

const shownMax = 5;

const icons = {
  doubled: <Glyph name="doubled" size={16} />,
  failed: <StateIcon state="failed" words={false} />,
  line: <StateIcon state="waiting" words={false} />,
  "no-worker": <StateIcon state="queued" words={false} />,
} as const;

export function NeedsALook({ overview }: { readonly overview: Overview }) {
  const now = useNow();
  const troubles = troublesOf(overview, now);
  if (troubles.length === 0) return <AllWell overview={overview} />;
  const left = troubles.length - shownMax;
  return (
    <section className="card needs" aria-label={`${counted(troubles.length, "thing needs", "things need")} a look`}>
      <ul>
        {troubles.slice(0, shownMax).map((trouble) => (
          <li key={`${trouble.kind} ${trouble.fn.function}`} className={`is-${trouble.kind}`}>
            {icons[trouble.kind]}
            <p>
              <b>{trouble.what}</b> <span className="quiet">{trouble.more}</span>
            </p>
            <Way trouble={trouble} since={overview.since} />
          </li>
        ))}
      </ul>
      {left > 0 && <p className="quiet more">{counted(left, "more is", "more are")} in the list of functions.</p>}
    </section>
  );
}

function AllWell({ overview: { total, functions, quiet } }: { readonly overview: Overview }) {
  if (functions.length + quiet.length === 0) return <Note tone="plain" title="No function is registered yet" />;
  const stopped =
    total.suppressed === 0 ? "" : ` ${counted(total.suppressed, "duplicate was", "duplicates were")} stopped in time.`;
  if (total.ended + total.waiting + total.atWork === 0)
    return <Note tone="plain" title={`Nothing ran in this time.${stopped}`} />;
  return <Note tone="good" title={`Every key ran once, nothing is stuck.${stopped}`} />;
}

function Way({ trouble: { kind, fn }, since }: { readonly trouble: Trouble; readonly since: number }) {
  const params = { fn: fn.function };
  switch (kind) {
    case "doubled":
      return (
        <Link
          className="button is-hot"
          to="/runs"
          search={{ fn: fn.function, show: "doubled", since: new Date(since).toISOString() }}
        >
          See {fn.slipped === 1 ? "it" : "them"}
        </Link>
      );
    case "failed":
      return (
        <Link className="button is-plain" to="/runs" search={{ ...endedIn(since), fn: fn.function, state: "failed" }}>
          {fn.failed === 1 ? "See it" : `See the ${numberWords(fn.failed)}`}
        </Link>
      );
    case "no-worker":
      return (
        <Link className="button is-plain" to="/functions/$fn" params={params}>
          Open it
        </Link>
      );
    case "line":
      return (
        <Link className="button is-plain" to="/functions/$fn/line" params={params}>
          Open the line
        </Link>
      );
  }
}
