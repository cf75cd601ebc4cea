// More steps at once than anybody reads, as one line that counts them.
import { StateIcon } from "../../parts/state-icon.tsx";
import { durationWords } from "../../parts/time-words.ts";
import { visibleText } from "../../parts/visible-text.ts";
import type { Scale } from "./fold.ts";
import { countWords, type Lane } from "./lanes.ts";
import { Track } from "./waterfall-row.tsx";

interface FoldedLaneProps {
  readonly lane: Extract<Lane, { kind: "folded" }>;
  readonly scale: Scale;
  readonly now: number | null;
  readonly isUnfolded: boolean;
  readonly onToggle: (id: string, unfold: boolean) => void;
}

export function FoldedLane({ lane, scale, now, isUnfolded, onToggle }: FoldedLaneProps) {
  const { id, name, rows, bracket, failed, completed } = lane;
  const isOpen = rows.some(({ to }) => to === null);
  const from = Math.min(...rows.map((row) => row.from));
  const to = isOpen ? null : Math.max(...rows.map((row) => row.to!));
  const state = failed > 0 ? "failed" : completed === rows.length ? "completed" : "waiting";
  return (
    <li className={`row is-folded${bracket === null ? "" : ` in-bracket is-${bracket}`}`}>
      <div className="label">
        <StateIcon state={state} />
        <button
          type="button"
          className="name"
          data-lane={`fold-${id}`}
          data-fold={id}
          aria-expanded={isUnfolded}
          onClick={() => onToggle(id, !isUnfolded)}
        >
          <bdi className="cut">
            {visibleText(name)} × {rows.length}
          </bdi>
        </button>
        <span className="length">{to === null ? "so far" : durationWords(to - from)}</span>
      </div>
      <Track
        bars={[{ kind: isOpen ? "wait" : completed > 0 ? "value" : "error", from, to }]}
        note={countWords(lane)}
        scale={scale}
        now={now}
      />
    </li>
  );
}
