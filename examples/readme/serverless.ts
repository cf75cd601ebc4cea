// docs/serverless.md
import { Idem } from "idem";
import { cloudflareCron, lambdaSchedule, netlifySchedule, vercelCron } from "idem/serverless";

declare const waitUntil: (work: Promise<unknown>) => void;

// #region client
// lib/idem.ts
const idem = new Idem({ id: "shop", store: process.env.DATABASE_URL! });

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "placement/made" },
  async ({ event, step }) => {
    await step.run("draft", ({ key }) => draft(event.data.placementId, key));
  },
);
// #endregion

// #region vercel
// app/api/sweep/route.ts; in vercel.json: { "crons": [{ "path": "/api/sweep", "schedule": "* * * * *" }] }
export const maxDuration = 30;
export const GET = vercelCron(idem, { budget: "20s" }); // refuses whoever does not show CRON_SECRET
// #endregion

// #region others
// Netlify: a scheduled function
export const scheduled = netlifySchedule(idem, { budget: "20s" });
// AWS Lambda behind EventBridge Scheduler: as long as the invocation may last
export const handler = lambdaSchedule(idem);
// Cloudflare cron triggers
export const worker = { scheduled: cloudflareCron(idem, { budget: "20s" }) };
// #endregion

// #region send
// app/placements/route.ts
export async function POST(request: Request): Promise<Response> {
  const { placementId } = (await request.json()) as { placementId: number };
  await idem.send({ name: "placement/made", data: { placementId } }, { waitUntil });
  return Response.json({ placementId });
}
// #endregion

async function draft(placementId: unknown, key: string): Promise<string> {
  return `${placementId} ${key}`;
}
