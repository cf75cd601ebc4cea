// The first days of a source of webhooks: two deliveries that its own ids did not make one, although they say the same or are about the same
// things. Maybe they are the same; the person who set the source up looks while it is fresh in mind.
import type { Event } from "../model/event.ts";
import { fromJson } from "../model/json.ts";
import type { WatchedSource } from "./close-watch.ts";
import { contentOf } from "./event-ids.ts";
import { fieldsOf, isDelivery, isIdentity, isTime } from "./fields.ts";
import type { FoundAlert } from "./found-alert.ts";
import { shorten } from "./rule-watch.ts";
import type { RadarRule } from "./rules.ts";

// A few hundred bytes each.
const marksMax = 4_000;

export class SourceWatch {
  /** The event that said this last. */
  private readonly seen = new Map<string, { readonly id: string; readonly at: number }>();

  /** The default rule says how close together is close. */
  see(source: WatchedSource, event: Event, rule: RadarRule | undefined): FoundAlert[] {
    if (rule === undefined || rule.isMuted) return [];
    const about = aboutOf(event);
    if (about === null) return [];
    const mark = `${source.name} ${about.mark}`;
    const first = this.seen.get(mark);
    this.seen.delete(mark);
    this.seen.set(mark, { id: event.id, at: event.receivedAt });
    if (this.seen.size > marksMax) this.seen.delete(this.seen.keys().next().value!);
    if (first === undefined || first.id === event.id || event.receivedAt - first.at > rule.withinMs) return [];
    return [
      {
        kind: "doubled-deliveries",
        fn: "",
        about: `source:${source.name}`,
        subject: source.name,
        facts: { of: "event" },
        pairs: [{ entity: shorten(about.entity), firstId: first.id, laterId: event.id, at: event.receivedAt }],
      },
    ];
  }
}

/** The subject of an event by its identities, under whatever name; without any, by all of its content. Null for nothing at all. */
function aboutOf(event: Event): { readonly mark: string; readonly entity: string } | null {
  const data = fromJson(event.data);
  const fields = fieldsOf(data).filter((field) => !isTime(field) && !isDelivery(field));
  if (fields.length === 0) return null;
  const identities = fields.filter(isIdentity).map(({ path, value }) => [path, value]);
  if (identities.length === 0) return { mark: contentOf(event.name, data), entity: event.data };
  const mark = JSON.stringify(identities.sort());
  return {
    mark,
    entity:
      identities.length === 1 ? JSON.stringify(identities[0]![1]) : JSON.stringify(Object.fromEntries(identities)),
  };
}
