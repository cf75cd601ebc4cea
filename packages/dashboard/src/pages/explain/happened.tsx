// What happened: one sentence per fact, in the order of time.
import { lastTime, storyParagraphs } from "../../../../idem/src/stories/story-text.ts";
import { say } from "../../frame/messages.ts";
import { Button } from "../../parts/button.tsx";
import { copyText } from "../../parts/copy.tsx";
import { Glyph } from "../../parts/glyph.tsx";
import { Icon } from "../../parts/icon.tsx";
import { useNow } from "../../parts/now.ts";
import { Sentence } from "../../parts/sentence.tsx";
import { StateIcon } from "../../parts/state-icon.tsx";
import { Time } from "../../parts/time.tsx";
import { instantOf } from "../../parts/time-words.ts";
import { useSettings } from "../../settings.ts";
import type { Story, StoryFact } from "./story-data.ts";
import { nounsToLink } from "./story-links.tsx";
import "./happened.css";

export function Happened({ story }: { readonly story: Story }) {
  const nouns = nounsToLink(story.nouns);
  const utc = useSettings().zone === "utc";
  const now = useNow(null);
  const copy = async () => {
    const paragraphs = storyParagraphs(story, (at) => instantOf(at, now, { utc }));
    const done = await copyText(paragraphs.map((lines) => lines.join("\n")).join("\n\n"));
    say(done ? "Copied the story as text" : "This browser did not let the page copy. Select the text instead.", {
      brief: true,
    });
  };
  return (
    <section className="card">
      <header>
        <h2>What happened</h2>
        <Button look="link" small onClick={() => void copy()}>
          Copy as text
        </Button>
      </header>
      <ol className="facts-told">
        {story.facts.map((fact, place) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a fact can be told twice in the same words; its place cannot
          <li key={place}>
            <span className="at">{fact.at === null ? <span className="mono">now</span> : <Time at={fact.at} />}</span>
            <span className="sign">
              <Sign kind={fact.kind} />
            </span>
            <span className="told">
              <Sentence text={fact.text} nouns={nouns} />
              {fact.untilAt !== null && (
                <>
                  {" "}
                  {lastTime} <Time at={fact.untilAt} />.
                </>
              )}
            </span>
          </li>
        ))}
      </ol>
    </section>
  );
}

function Sign({ kind }: { readonly kind: StoryFact["kind"] }) {
  switch (kind) {
    case "first":
    case "slipped":
    case "suppressed":
    case "rerun":
      return <Glyph name={kind} size={14} />;
    case "event":
      return <Icon name="events" size={14} />;
    case "note":
      return <Icon name="explain" size={14} />;
    case "alert":
      return (
        <span className="doubled">
          <Icon name="radar" size={14} />
        </span>
      );
    default:
      return <StateIcon state={kind} size={14} words={false} />;
  }
}
