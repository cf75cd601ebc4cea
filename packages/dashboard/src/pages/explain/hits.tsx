// Several things have the name, or none has.
import { Link } from "@tanstack/react-router";
import { Empty } from "../../parts/empty.tsx";
import { visibleText } from "../../parts/visible-text.ts";
import type { StoryHit } from "./story-data.ts";
import "../../parts/list.css";

const search = ({ as, id, function: fn }: StoryHit) => ({
  q: id,
  as,
  ...(fn === null || as === "run" || as === "event" ? {} : { fn }),
});

export function Hits({ sentence, hits }: { readonly sentence: string; readonly hits: readonly StoryHit[] }) {
  return (
    <section className="card hits">
      <header>
        <h2>{visibleText(sentence)}</h2>
      </header>
      <HitList hits={hits} />
    </section>
  );
}

export function NoHit({ sentence, examples }: { readonly sentence: string; readonly examples: readonly StoryHit[] }) {
  return (
    <section className="card hits">
      <NoHitWords sentence={sentence} />
      {examples.length > 0 && (
        <>
          <header>
            <h2>Try one of these</h2>
          </header>
          <HitList hits={examples} />
        </>
      )}
    </section>
  );
}

/** "Nothing has this id or key." And then why that may be. */
function NoHitWords({ sentence }: { readonly sentence: string }) {
  const [first, ...rest] = visibleText(sentence).split(/(?<=\.) /);
  return <Empty title={first!.replace(/\.$/, "")}>{rest.length > 0 && <p>{rest.join(" ")}</p>}</Empty>;
}

const HitList = ({ hits }: { readonly hits: readonly StoryHit[] }) => (
  <ul>
    {hits.map((hit) => (
      <li key={`${hit.as} ${hit.id} ${hit.function}`} className="row">
        <Link className="row-link mono" to="/explain" search={search(hit)}>
          <bdi>{visibleText(hit.id)}</bdi>
        </Link>
        <span className="quiet cut">{visibleText(hit.words)}</span>
      </li>
    ))}
  </ul>
);
