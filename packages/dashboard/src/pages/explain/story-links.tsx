// The links of a story's nouns.
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { hasPage } from "../../pages.ts";
import type { Noun } from "../../parts/sentence.tsx";
import { claimName } from "../keys/claim-name.ts";
import type { StoryNoun } from "./story-data.ts";

export function nounLink({ kind, id, scope }: StoryNoun, text: ReactNode): ReactNode {
  switch (kind) {
    case "run":
      return hasPage("/runs/$run") ? (
        <Link to="/runs/$run" params={{ run: id }}>
          {text}
        </Link>
      ) : (
        text
      );
    case "event":
      return (
        <Link className="mono" to="/events/$event" params={{ event: id }}>
          {text}
        </Link>
      );
    case "function":
      return (
        <Link to="/functions/$fn" params={{ fn: id }}>
          {text}
        </Link>
      );
    case "key":
      return (
        <Link to="/keys/$claim" params={{ claim: claimName({ scope: scope ?? "", key: id }) }}>
          {text}
        </Link>
      );
    case "alert":
      return hasPage("/radar/alerts/$alert") ? (
        <Link to="/radar/alerts/$alert" params={{ alert: id }}>
          {text}
        </Link>
      ) : (
        text
      );
    case "source":
      return (
        <Link to="/webhooks/$source" params={{ source: id }}>
          {text}
        </Link>
      );
  }
}

const slipped: Noun = { text: "slipped through", link: (text) => <b className="doubled">{text}</b> };

export const nounsToLink = (nouns: readonly StoryNoun[]): readonly Noun[] => [
  ...nouns.map((noun): Noun => ({ text: noun.text, link: (text) => nounLink(noun, text) })),
  slipped,
];
