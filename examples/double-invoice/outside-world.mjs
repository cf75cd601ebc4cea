// Everything the function talks to: Bullhorn, Stripe and the agency's approval queue. All of it lives in one folder, so that
// two processes meet the same world.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { effectsLog } from "./effects-log.mjs";
import { fakeStripe } from "./fake-stripe.mjs";
import { keepFirst, readKept } from "./keep-first.mjs";
import { placements } from "./placements.mjs";

export function outsideWorld(folder, { latencyMs }) {
  mkdirSync(folder, { recursive: true });
  const effects = effectsLog(join(folder, "effects.txt"));
  // From half to one and a half times as long, by placement: neighbours drift apart, as they would.
  const latency = (placementId) => delay(latencyMs * (0.5 + ((placementId * 37) % 100) / 100));

  const bullhorn = {
    placements: {
      async get(id) {
        effects.write("entered", "fetch-placement", id);
        await latency(id);
        effects.write("left", "fetch-placement", id);
        return placements.find((placement) => placement.id === id);
      },
    },
  };

  const queue = join(folder, "approvals");
  const approvals = {
    /** `insert … on conflict (unique_key) do nothing`. */
    async insert(row, { uniqueKey }) {
      effects.write("entered", "queue-for-approval", row.placementId);
      await latency(row.placementId);
      const { isFirst } = keepFirst(queue, uniqueKey, row);
      effects.write(isFirst ? "created" : "found", "queue-for-approval", row.placementId);
      effects.write("left", "queue-for-approval", row.placementId);
    },
    list: () => readKept(queue),
  };

  return { effects, bullhorn, stripe: fakeStripe(join(folder, "stripe"), effects, latency), approvals };
}
