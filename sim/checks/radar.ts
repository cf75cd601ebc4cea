// The radar: it looks beside the work, and what it tells of is there.
import type { Check } from "./facts.ts";

export const detectedEvent = "idem/duplicate.detected";
/** No announcement is repeated for so long. */
export const announcedForMs = 30 * 24 * 60 * 60 * 1_000;

export const radarChecks = {
  "no part of the engine stumbles over itself"({ ledger }, fail) {
    for (const line of new Set(ledger.stumbles)) fail(line);
  },

  "a duplicate the radar tells of is a pair of what is kept"({ dump, events, runs }, fail) {
    for (const { id, name, data } of dump.events) {
      if (name !== detectedEvent) continue;
      const { of, firstId, laterId } = JSON.parse(data) as { of: string; firstId: string | null; laterId: string };
      const kept = of === "run" ? runs : events;
      for (const one of [firstId, laterId]) {
        if (one !== null && !kept.has(one)) fail(`event ${id}: tells of ${of} ${one}, which is not there`);
      }
      if (firstId === laterId) fail(`event ${id}: ${of} ${laterId} is no duplicate of itself`);
    }
  },
} satisfies Record<string, Check>;
