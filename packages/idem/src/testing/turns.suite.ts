import { setImmediate } from "node:timers/promises";

/** Gives the event loop back this many times, so that everything that is ready happens first. */
export async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await setImmediate();
}
