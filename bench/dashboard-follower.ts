// Pages that follow a server live, without the drawing: each hears the stream and reads its list again, never more than a tenth of the time
// (packages/dashboard/src/api/follow.ts).
const [origin, count] = process.argv.slice(2);
const path = "/api/groups?group=key&order=attention&since=7d&totals=true&limit=100";
const restMinMs = 1_000;
const restShare = 10;

async function read(): Promise<number> {
  const from = performance.now();
  await (await fetch(`${origin}${path}`)).text();
  return performance.now() - from;
}

async function follow(): Promise<void> {
  const { body } = await fetch(`${origin}/api/live`);
  let isReading = false;
  let restUntil = 0;
  for await (const _ of body!) {
    if (isReading || performance.now() < restUntil) continue;
    isReading = true;
    void read().then((tookMs) => {
      isReading = false;
      restUntil = performance.now() + Math.max(restMinMs, tookMs * restShare);
    });
  }
}

const all = Array.from({ length: Number(count) }, async () => {
  await read();
  return follow();
});
process.send?.("following");
await Promise.all(all);
