// A sentence in which the things that have a page are links. The server writes it; this only finds their names in it.
import { Fragment, type ReactNode } from "react";
import { visibleText } from "./visible-text.ts";

export interface Noun {
  /** As it stands in the sentence. */
  readonly text: string;
  readonly link: (text: ReactNode) => ReactNode;
}

/** The longest name first: "run 2" must not be found inside "run 21". */
export function Sentence({ text, nouns }: { readonly text: string; readonly nouns: readonly Noun[] }) {
  const known = [...nouns].filter((noun) => noun.text !== "").sort((a, b) => b.text.length - a.text.length);
  const parts: ReactNode[] = [];
  let from = 0;
  let plain = 0;
  const flush = (to: number) => {
    if (to > plain) parts.push(<Fragment key={plain}>{visibleText(text.slice(plain, to))}</Fragment>);
  };
  while (from < text.length) {
    const found = known.find((noun) => text.startsWith(noun.text, from) && isWhole(text, from, noun.text.length));
    if (found === undefined) {
      from++;
      continue;
    }
    flush(from);
    parts.push(<Fragment key={`at-${from}`}>{found.link(<bdi>{visibleText(found.text)}</bdi>)}</Fragment>);
    from += found.text.length;
    plain = from;
  }
  flush(text.length);
  return <>{parts}</>;
}

const word = /[\p{L}\p{N}_-]/u;
const isWhole = (text: string, at: number, length: number): boolean =>
  !(at > 0 && word.test(text[at - 1]!) && word.test(text[at]!)) &&
  !(at + length < text.length && word.test(text[at + length]!) && word.test(text[at + length - 1]!));
