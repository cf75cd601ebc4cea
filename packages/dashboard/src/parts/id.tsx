// An id: its last characters are the telling ones, so it is cut in the middle; the whole of it is in the title and in the copy.
import type { ReactNode } from "react";
import { Copy } from "./copy.tsx";
import { visibleText } from "./visible-text.ts";
import "./id.css";

const headChars = 10;
const tailChars = 2;
// Two dots saved are not worth a cut.
const wholeChars = headChars + tailChars + 4;

export function cutMiddle(id: string, whole = wholeChars): string {
  const chars = [...id];
  if (chars.length <= whole) return id;
  return `${chars.slice(0, Math.max(4, whole - tailChars - 4)).join("")}…${chars.slice(-tailChars).join("")}`;
}

interface IdProps {
  readonly id: string;
  /** The kind of thing it names, for the copy button: "run", "event". */
  readonly of: string;
  /** Wraps the text in a link to the thing's page. */
  readonly link?: (text: ReactNode) => ReactNode;
  readonly chars?: number;
  readonly copies?: boolean;
}

export function Id({ id, of, link, chars = wholeChars, copies = true }: IdProps) {
  const text = (
    <bdi className="mono" title={visibleText(id)}>
      {visibleText(cutMiddle(id, chars))}
    </bdi>
  );
  return (
    <span className="id">
      {link === undefined ? text : link(text)}
      {copies && <Copy text={id} what={`${of} ${cutMiddle(id)}`} />}
    </span>
  );
}
