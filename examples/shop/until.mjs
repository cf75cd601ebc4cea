// Nothing in the stories is timed: they go on when something is so.
import { setTimeout as delay } from "node:timers/promises";

const lookEveryMs = 25;
const patienceMs = 30_000;

export async function until(what, isSo) {
  const giveUpAt = Date.now() + patienceMs;
  for (;;) {
    const value = await isSo();
    if (value) return value;
    if (Date.now() > giveUpAt) throw new Error(`It never came about: ${what}`);
    await delay(lookEveryMs);
  }
}
