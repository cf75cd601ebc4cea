// Which functions an event's name reaches: by exact name, or by a wildcard that ends a part ("shop/*", "shop/order.*").
// A function is reached once, however many of its triggers match; any of those triggers' filters may let the event in.
import { type EventTrigger, type FunctionConfig, isWildcard } from "../model/function-config.ts";

export interface Match<F> {
  readonly target: F;
  readonly triggers: readonly EventTrigger[];
}

export class TriggerIndex<F extends { readonly config: FunctionConfig }> {
  private readonly exact = new Map<string, Match<F>[]>();
  private readonly wild: { prefix: string; target: F; trigger: EventTrigger }[] = [];

  constructor(targets: readonly F[]) {
    for (const target of targets) {
      for (const trigger of target.config.triggers) {
        if (!("event" in trigger)) continue;
        if (isWildcard(trigger.event)) {
          this.wild.push({ prefix: trigger.event.slice(0, -1), target, trigger });
        } else {
          const list = this.exact.get(trigger.event) ?? [];
          this.exact.set(trigger.event, list);
          addTrigger(list, target, trigger);
        }
      }
    }
  }

  match(eventName: string): readonly Match<F>[] {
    const exact = this.exact.get(eventName) ?? [];
    if (this.wild.length === 0) return exact;
    const all = exact.map(({ target, triggers }) => ({ target, triggers: [...triggers] }));
    for (const { prefix, target, trigger } of this.wild) {
      if (eventName.startsWith(prefix)) addTrigger(all, target, trigger);
    }
    return all;
  }
}

function addTrigger<F>(list: Match<F>[], target: F, trigger: EventTrigger): void {
  const i = list.findIndex((match) => match.target === target);
  if (i === -1) list.push({ target, triggers: [trigger] });
  else list[i] = { target, triggers: [...list[i]!.triggers, trigger] };
}
