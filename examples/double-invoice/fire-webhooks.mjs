// Bullhorn, firing. `pace` 1 is as fast as in the story, 0 as fast as the machine can.
import { setTimeout as delay } from "node:timers/promises";
import { webhooks } from "./placements.mjs";

export async function fireWebhooks(pace, receive) {
  await Promise.all(
    webhooks.map(async ({ atMs, event }) => {
      await delay(atMs * pace);
      await receive(event);
    }),
  );
}
