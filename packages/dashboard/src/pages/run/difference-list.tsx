// Differences between the old value and the one a person wrote, path by path.
import { visibleText } from "../../parts/visible-text.ts";
import { differencesOf } from "../compare/differences.ts";
import { count } from "./run-words.ts";
import "./difference-list.css";

// As many as a person changes by hand.
const shownMax = 20;
const charsMax = 200;

interface DifferenceListProps {
  readonly before: unknown;
  readonly after: unknown;
  /** The other side of the difference, in words. */
  readonly than: string;
}

export function DifferenceList({ before, after, than }: DifferenceListProps) {
  const { differing } = differencesOf(before, after);
  return (
    <div className="difference" aria-live="polite">
      <h3>{differing.length === 0 ? "Nothing differs yet" : `${count(differing.length, "difference")} to ${than}`}</h3>
      <ul className="mono">
        {differing.slice(0, shownMax).map(({ path, one, other }) => (
          <li key={path}>
            <span className="quiet">{visibleText(path)}</span>
            {one !== undefined && <del>{visibleText(one.slice(0, charsMax))}</del>}
            {other !== undefined && <ins>{visibleText(other.slice(0, charsMax))}</ins>}
          </li>
        ))}
      </ul>
      {differing.length > shownMax && <p className="quiet">and {differing.length - shownMax} more</p>}
    </div>
  );
}
