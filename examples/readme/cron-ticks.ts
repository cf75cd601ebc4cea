// docs/cron-ticks.md
// #region route
import { pgAdapter } from "idem/sql";
import { cronTick } from "idem/toolkit";
import pg from "pg";

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
const adapter = pgAdapter(pool);

declare const mailer: { send(to: string, options: { idempotencyKey: string }): Promise<void> };

// app/api/daily-digest/route.ts, called by a Vercel cron at "0 9 * * *"
export const GET = cronTick(
  adapter,
  { id: "daily-digest", schedule: "0 9 * * *", onCrash: "resume", lease: "60s", secret: process.env.CRON_SECRET! },
  async (tick) => {
    const { rows } = await pool.query("select email from subscribers where since < $1", [tick.at]);
    for (const { email } of rows) await mailer.send(email, { idempotencyKey: tick.key(email) });
    return { sent: rows.length };
  },
);
// #endregion

// #region plain
const nightly = cronTick(
  adapter,
  { id: "nightly-invoices", schedule: "0 2 * * *", zone: "Europe/Paris", onCrash: "park" },
  async ({ at, previousAt }) => `invoices of ${previousAt?.toISOString() ?? "the beginning"} to ${at.toISOString()}`,
);

const answer = await nightly(); // from a system's crontab, a Kubernetes CronJob, a queue
console.log(answer.kind);
// #endregion

// #region unfinished
for (const tick of await nightly.unfinished()) {
  console.log(new Date(tick.at), tick.state, tick.reason);
  await nightly.resolve(tick.at, "resume"); // or "done"
  await nightly.at(tick.at);
}
// #endregion
