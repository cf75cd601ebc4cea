// The key a step gave to a system outside, so that it could know the second try from the first. The sentence in magenta: none was given.
import { Copy } from "../../parts/copy.tsx";
import { Glyph } from "../../parts/glyph.tsx";
import { cutMiddle } from "../../parts/id.tsx";
import { visibleText } from "../../parts/visible-text.ts";
import type { EffectItem, GroupItem, RunDetail, TimelineEntry } from "./run-data.ts";
import { useRun } from "./run-queries.ts";
import { placeInGroup } from "./run-words.ts";

interface DestinationPartProps {
  readonly entry: TimelineEntry;
  readonly effect: EffectItem | null;
  readonly run: RunDetail;
  readonly group: GroupItem | undefined;
}

const givesKeys: ReadonlySet<TimelineEntry["kind"]> = new Set(["run", "effect", "fetch", "transaction"]);

/** Trouble with the key it sent, before everything else. */
export function DestinationTold({ entry, effect, run, group }: DestinationPartProps) {
  const other = otherRun(run, group);
  const { data } = useRun(other ?? "", other !== null);
  const theirs = data?.run.timeline.find(({ stepId }) => stepId === entry.stepId);
  if (!givesKeys.has(entry.kind)) return null;
  const where = effect === null ? "the system it writes to" : effect.destination;
  const isOtherKey =
    theirs?.destinationKey != null && entry.destinationKey !== null && theirs.destinationKey !== entry.destinationKey;
  return (
    <>
      {effect !== null && !effect.isKeyed && (
        <Told title="Sent without a destination key.">
          {visibleText(
            `${effect.destination} takes none, so it cannot tell this request from another${other === null ? "" : " run's"}.`,
          )}
        </Told>
      )}
      {(effect === null || effect.isKeyed) && isOtherKey && (
        <Told title="Another destination key than the other run's.">
          {visibleText(`The function has no key, so ${where} could not tell this request from a new one.`)}
        </Told>
      )}
    </>
  );
}

export function DestinationKey({ entry, effect }: Pick<DestinationPartProps, "entry" | "effect">) {
  const key = effect?.key ?? entry.destinationKey;
  if (!givesKeys.has(entry.kind) || key === null || (effect !== null && !effect.isKeyed)) return null;
  return (
    <div className="sent">
      <span className="quiet">
        {visibleText(
          effect === null
            ? "Destination key, given to its code"
            : `Destination key, sent to ${effect.destination} for ${effect.entity}`,
        )}
      </span>
      <span>
        <code title={key}>{visibleText(cutMiddle(key, 34))}</code> <Copy text={key} what="the destination key" />
      </span>
      {effect !== null && <EffectWords effect={effect} />}
    </div>
  );
}

function EffectWords({ effect }: { readonly effect: EffectItem }) {
  const tries = `${effect.tries} ${effect.tries === 1 ? "try" : "tries"}`;
  const words = {
    sent: effect.receipt === null ? `Sent in ${tries}; it gave no receipt.` : `It made ${effect.receipt} in ${tries}.`,
    "in-flight": "Somebody is at it.",
    unknown: `Tried ${tries}; nobody knows what became of it.`,
    parked: `Parked: ${effect.reason ?? "a person must say what became of it"}.`,
  }[effect.state];
  return <span className="quiet">{visibleText(words)}</span>;
}

const Told = ({ title, children }: { readonly title: string; readonly children: string }) => (
  <div className="told">
    <Glyph name="slipped" size={14} />
    <p>
      <b>{title}</b> {children}
    </p>
  </div>
);

/** Of a group that ran more often than it should: the run this one stands against. */
function otherRun(run: RunDetail, group: GroupItem | undefined): string | null {
  if (group === undefined || !group.isLoud) return null;
  const place = placeInGroup(group, run.id);
  const asked = group.runs.filter(({ kind }) => kind !== "rerun");
  return place === null ? null : ((place.number === 1 ? asked[1] : asked[0])?.id ?? null);
}
