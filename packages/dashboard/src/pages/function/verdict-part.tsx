// Would it do things twice? What `idem verify` said of this function, for which code, and the command that says it again.
import { basePath } from "../../base-path.ts";
import { Command } from "../../parts/command.tsx";
import { Time } from "../../parts/time.tsx";
import { visibleText } from "../../parts/visible-text.ts";
import type { FunctionInFigures } from "../functions/function-data.ts";
import { SinceTag, VerdictSign } from "../functions/verdict-cell.tsx";
import { type FunctionVerdict, playedWords, repeatCommand, verifyCommand } from "../functions/verdict-words.ts";
import "./verdict-part.css";

export function VerdictPart({ of }: { readonly of: FunctionInFigures }) {
  const { verdict, verifiedWith, app } = of;
  return (
    <section className="card verdict-part" id="verdict" aria-labelledby="verdict-title">
      <header>
        <h2 id="verdict-title">Would it do things twice?</h2>
      </header>
      {verifiedWith !== null ? (
        <p className="quiet">
          It handles the end of <b>{visibleText(verifiedWith.replace(`${app}-`, ""))}</b>, whose verdict is about both.
        </p>
      ) : (
        <>
          {verdict === null ? <Never of={of} /> : <Said of={of} verdict={verdict} />}
          <Command
            name={verdict === null ? "Verify it" : "Verify it again"}
            command={verifyCommand(of, (location.origin + basePath).replace(/\/$/, ""))}
          />
        </>
      )}
    </section>
  );
}

const Never = ({ of }: { readonly of: FunctionInFigures }) => (
  <p className="said">
    <VerdictSign of={of} />
    <span>
      Never verified. Nobody tried what becomes of it when it is delivered twice, or dies in the middle
      {of.triggers.some((each) => "event" in each) ? "; its newest event is enough to try." : "; it needs no event."}
    </span>
  </p>
);

const sinceWords = {
  same: "It is about the code that is registered now.",
  changed: "The code that is registered now is another one.",
  unknown: "Nobody can say which code it was about.",
} as const;

function Said({ of, verdict }: { readonly of: FunctionInFigures; readonly verdict: FunctionVerdict }) {
  const { effects, findings, findingCount } = verdict;
  return (
    <>
      <p className="said">
        <VerdictSign of={of} />
        <span>
          <b className={verdict.verdict === "DOUBLED" ? "doubled" : ""}>{verdict.verdict}</b> {playedWords(verdict)},{" "}
          {effects} {effects === 1 ? "effect" : "effects"} in one clean run, <Time at={verdict.at} as="ago" />,
          published by {visibleText(verdict.by)}. {sinceWords[verdict.codeSince]} <SinceTag of={verdict} />
        </span>
      </p>
      {findings.length > 0 && (
        <ol className="verdict-findings">
          {findings.map(({ id, kind, isAccepted, place, schedule }) => (
            <li key={id}>
              <p>
                <b className={kind === "DOUBLED" && !isAccepted ? "doubled" : ""}>{kind}</b>
                {isAccepted ? ", accepted" : ""}{" "}
                {place === null ? (
                  "at no line that is known"
                ) : (
                  <code>{visibleText(`${place.file}:${place.line}`)}</code>
                )}
              </p>
              <Command name="Repeat it" command={repeatCommand(of, schedule)} />
            </li>
          ))}
        </ol>
      )}
      {findingCount > findings.length && (
        <p className="quiet">And {findingCount - findings.length} more, which the command lists.</p>
      )}
    </>
  );
}
