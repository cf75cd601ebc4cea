// The limits that hold a line back, each with its use, and raising one for a while.
import { useState } from "react";
import { ActButton } from "../../parts/button.tsx";
import { behindWords } from "../../parts/line-words.ts";
import { Time } from "../../parts/time.tsx";
import { lengthWords } from "../../parts/time-words.ts";
import { visibleText } from "../../parts/visible-text.ts";
import type { LineAnswer, LineLimit } from "./line-data.ts";
import { EndDialog, RaiseDialog } from "./raise-dialog.tsx";

export function HeldBack({ of }: { readonly of: LineAnswer }) {
  const { limits, line } = of;
  return (
    <section className="card ahead" aria-label="What holds it back">
      <header>
        <h2>What holds it back</h2>
      </header>
      <ul>
        {limits.map((limit, i) => (
          <Limit key={`${limit.kind} ${limit.key} ${limit.scope}`} of={of} limit={limit} which={i + 1} />
        ))}
        {limits.length === 0 && (
          <li className="quiet">It has no limits: its runs begin as soon as a worker has room.</li>
        )}
        <li>
          <span>Now</span>
          <b>{line.behind === null ? "nothing" : visibleText(behindWords(line.behind))}</b>
        </li>
      </ul>
    </section>
  );
}

interface LimitProps {
  readonly of: LineAnswer;
  readonly limit: LineLimit;
  /** From one, as the server counts them. */
  readonly which: number;
}

function Limit({ of, limit: given, which }: LimitProps) {
  const [asked, setAsked] = useState<"raise" | "end" | null>(null);
  const { kind, limit, own, until, periodMs, key, scope, used } = given;
  const dialog = { of, limit: given, which, onClose: () => setAsked(null) };
  return (
    <li className={kind === "concurrency" ? "has-act" : ""}>
      <span>
        {kind}
        {key === null ? "" : visibleText(` for each ${key}`)}
        {scope === "fn" ? "" : scope === "env" ? ", shared in the environment" : ", shared in the store"}
      </span>
      <b className={used !== null && used >= limit ? "waiting" : ""}>
        {kind === "throttle"
          ? `${limit} in ${lengthWords(periodMs!)}`
          : used === null
            ? `${limit} each`
            : `${used} of ${limit}${used >= limit ? ", full" : ""}`}
      </b>
      {until !== null && (
        <p className="stands-in">
          {limit < own ? "Lowered" : "Raised"} from {own} until <Time at={until} />. Then {own} counts again by itself.
        </p>
      )}
      {kind === "concurrency" && (
        <span className="button-row">
          <ActButton small onClick={() => setAsked("raise")}>
            {until === null ? "Raise for a while" : "Change it"}
          </ActButton>
          {until !== null && (
            <ActButton small onClick={() => setAsked("end")}>
              End it now
            </ActButton>
          )}
        </span>
      )}
      {asked === "raise" && <RaiseDialog {...dialog} />}
      {asked === "end" && <EndDialog {...dialog} />}
    </li>
  );
}
