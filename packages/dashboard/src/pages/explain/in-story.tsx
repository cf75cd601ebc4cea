// The runs and events of a story, each a link.
import { Link } from "@tanstack/react-router";
import { runLink } from "../../parts/decision.tsx";
import { cutMiddle } from "../../parts/id.tsx";
import { StateIcon } from "../../parts/state-icon.tsx";
import { visibleText } from "../../parts/visible-text.ts";
import type { StoryThing } from "./story-data.ts";
import "./aside.css";

export function InStory({ things }: { readonly things: readonly StoryThing[] }) {
  if (things.length === 0) return null;
  return (
    <section className="card in-story">
      <h2>In this story</h2>
      <ul>
        {things.map(({ kind, id, name, state, words }) => (
          <li key={`${kind} ${id}`}>
            {kind === "run" ? (
              runLink(id, name)
            ) : (
              <Link className="mono cut" to="/events/$event" params={{ event: id }} title={visibleText(name)}>
                <bdi>{visibleText(cutMiddle(name, 22))}</bdi>
              </Link>
            )}
            {state === null ? (
              <span className="quiet">{words}</span>
            ) : (
              <span className={`state ${state}`}>
                <StateIcon state={state} words={false} />
                {state}
              </span>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
