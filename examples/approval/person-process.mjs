// A person at their own screen: a process with a connection of its own, which clicks through the whole queue, everything twice.
import { setTimeout as delay } from "node:timers/promises";
import { openQueue } from "./approval-queue.mjs";

const { file, by, to, from } = JSON.parse(process.argv[2]);

process.on("disconnect", () => process.exit(1));
process.on("SIGINT", () => {});
const queue = await openQueue(file);
const ids = queue.list().map(({ id }) => id);
// Each begins elsewhere in the list, and they meet on the way.
const order = [...ids.slice(from), ...ids.slice(0, from)];

process.once("message", async () => {
  const clicks = [];
  for (const id of order) {
    for (let click = 0; click < 2; click++) {
      const { moved, row } = queue.decide(id, { to, by });
      clicks.push({ id, placementId: row.placement_id, by, moved, state: row.state, decidedBy: row.decided_by });
    }
    // A fast person.
    await delay(4);
  }
  process.send({ clicks }, () => process.exit(0));
});
process.send({ ready: true });
