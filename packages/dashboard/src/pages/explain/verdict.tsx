// The verdict: one sentence with "because", how often it ran, and the four places where a duplicate can be stopped.
import { gateTitles, gateWords } from "../../../../idem/src/stories/story-text.ts";
import { Glyph } from "../../parts/glyph.tsx";
import { Sentence } from "../../parts/sentence.tsx";
import { StateIcon } from "../../parts/state-icon.tsx";
import { visibleText } from "../../parts/visible-text.ts";
import type { Story, StoryGate } from "./story-data.ts";
import { nounsToLink } from "./story-links.tsx";
import "./verdict.css";

export function Verdict({ story }: { readonly story: Story }) {
  const { title, detail, tone, times, gates, nouns } = story;
  return (
    <section className="verdict card">
      <div className="says">
        <Block tone={tone} times={times} />
        <div>
          <h2>{visibleText(title)}</h2>
          <p>
            <Sentence text={detail} nouns={nounsToLink(nouns)} />
          </p>
        </div>
      </div>
      <ul className="gates" aria-label="The four places where a duplicate can be stopped">
        {gates.map((gate) => (
          <Gate key={gate.gate} gate={gate} />
        ))}
      </ul>
    </section>
  );
}

/** Filled only where something ran twice: nothing else on the page is as dark. */
function Block({ tone, times }: Pick<Story, "tone" | "times">) {
  if (tone === "doubled") return <div className="block is-doubled">×{times}</div>;
  return (
    <div className={`block is-${tone}`}>
      {tone === "suppressed" ? (
        <Glyph name="suppressed" size={24} />
      ) : tone === "failed" ? (
        <StateIcon state="failed" size={24} words={false} />
      ) : tone === "waiting" ? (
        <StateIcon state="waiting" size={24} words={false} />
      ) : tone === "once" ? (
        <Glyph name="first" size={24} />
      ) : (
        <StateIcon state="cancelled" size={24} words={false} />
      )}
    </div>
  );
}

function Gate({ gate: { gate, state, reason } }: { readonly gate: StoryGate }) {
  return (
    <li className={`gate is-${state}`}>
      <span className="name">
        {state === "let-through" ? (
          <Glyph name="slipped" size={13} />
        ) : state === "stopped" ? (
          <Glyph name="suppressed" size={13} />
        ) : (
          <span className="dot" aria-hidden="true" />
        )}
        {gateTitles[gate]}
      </span>
      <span className="did">{gateWords[state]}</span>
      <p>{visibleText(reason)}</p>
    </li>
  );
}
