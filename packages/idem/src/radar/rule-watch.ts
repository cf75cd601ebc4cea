// Rules that people made, held against what arrives. Bounded: what was not seen for longest is forgotten first.
import type { Event } from "../model/event.ts";
import { fromJson } from "../model/json.ts";
import { fieldsOf } from "./fields.ts";
import type { FoundAlert } from "./found-alert.ts";
import { ofKey, type RadarRule } from "./rules.ts";

// Some 10 MB.
const entitiesMax = 20_000;

interface Seen {
  readonly id: string;
  readonly at: number;
}

export class RuleWatch {
  private readonly seen = new Map<string, readonly Seen[]>();

  /** A run of this function began; its event as well, unless it was seen with another run. */
  seeRun(rules: readonly RadarRule[], run: { readonly fn: string; readonly key: string | null } & Seen, event: Event) {
    const fields = new EventFields(event);
    return rules.flatMap((rule) => {
      if (rule.what !== "runs" || rule.isMuted || (rule.fn !== null && rule.fn !== run.fn)) return [];
      const entity = rule.of === ofKey ? run.key : fields.at(rule.of);
      return entity === null ? [] : this.count(rule, run.fn, entity, run);
    });
  }

  seeEvent(rules: readonly RadarRule[], event: Event): FoundAlert[] {
    const fields = new EventFields(event);
    return rules.flatMap((rule) => {
      if (rule.what !== "events" || rule.isMuted) return [];
      const entity = fields.at(rule.of);
      return entity === null ? [] : this.count(rule, "", entity, { id: event.id, at: event.receivedAt });
    });
  }

  private count(rule: RadarRule, fn: string, entity: string, { id, at }: Seen): FoundAlert[] {
    const place = JSON.stringify([rule.name, fn, entity]);
    const list = (this.seen.get(place) ?? []).filter((other) => at - other.at <= rule.withinMs && other.id !== id);
    // The newest of an entity are enough to tell that there are too many.
    const kept = [...list, { id, at }].slice(-(rule.more + 1));
    this.seen.delete(place);
    this.seen.set(place, kept);
    if (this.seen.size > entitiesMax) this.seen.delete(this.seen.keys().next().value!);
    if (kept.length <= rule.more) return [];
    return [
      {
        kind: "rule",
        fn,
        about: `rule:${rule.name}`,
        subject: rule.of,
        facts: {
          of: rule.what === "runs" ? "run" : "event",
          rule: rule.name,
          more: rule.more,
          withinMs: rule.withinMs,
        },
        pairs: [{ entity: shorten(entity), firstId: kept[0]!.id, laterId: id, at }],
      },
    ];
  }
}

/** Read once for all rules, when the first of them asks. */
class EventFields {
  #fields: ReturnType<typeof fieldsOf> | null = null;
  readonly #event: Event;

  constructor(event: Event) {
    this.#event = event;
  }

  at(path: string): string | null {
    this.#fields ??= fieldsOf(fromJson(this.#event.data));
    const field = this.#fields.find((each) => each.path === path);
    return field === undefined || field.value === null ? null : JSON.stringify(field.value);
  }
}

const entityCharsMax = 300;

/** An entity is shown and compared by eye; a value of any length may stand in a payload. */
export const shorten = (json: string): string =>
  json.length <= entityCharsMax ? json : JSON.stringify(`${json.slice(0, entityCharsMax)}…`);
