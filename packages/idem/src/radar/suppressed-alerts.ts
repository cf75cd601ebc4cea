// The opposite failure, as it arrives: an event that was answered with an earlier one although it names something else.
import type { Decision } from "../model/decision.ts";
import type { Event } from "../model/event.ts";
import type { WatchContext } from "./duplicate-watch.ts";
import type { FoundAlert } from "./found-alert.ts";
import { shorten } from "./rule-watch.ts";
import { tellingDifferences } from "./suppressed.ts";

export function suppressedByKey(
  decision: Decision,
  event: Event,
  firsts: ReadonlyMap<string, Event>,
  { functionOf }: WatchContext,
): FoundAlert[] {
  const first = firsts.get(decision.firstEventId ?? "");
  const differs = first === undefined ? [] : tellingDifferences(first, event);
  if (first === undefined || differs.length === 0) return [];
  return [
    {
      kind: "key-too-broad",
      fn: decision.fn,
      about: "",
      subject: functionOf(decision.fn).keyExpression ?? "its key",
      facts: { of: "event", differs },
      pairs: [
        { entity: shorten(decision.key ?? "null"), firstId: first.id, laterId: event.id, at: decision.decidedAt },
      ],
    },
  ];
}

export function suppressedById(event: Event, first: Event | undefined): FoundAlert[] {
  if (first === undefined) return [];
  const entity = shorten(JSON.stringify(event.callerId));
  const pairs = [{ entity, firstId: first.id, laterId: event.id, at: event.receivedAt }];
  if (first.name !== event.name) {
    const names = [first.name, event.name].sort().join(" and ");
    return [{ kind: "id-under-two-names", fn: "", about: names, subject: names, facts: { of: "event" }, pairs }];
  }
  const differs = tellingDifferences(first, event);
  if (differs.length === 0) return [];
  const { name } = event;
  return [{ kind: "id-too-broad", fn: "", about: name, subject: name, facts: { of: "event", differs }, pairs }];
}
