// The app under measure: the official SDK behind node:http, with the run of docs/performance.md.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Inngest } from "inngest";
import { serve } from "inngest/node";

const [origin, checkpointing] = process.argv.slice(2);
const inngest = new Inngest({
  id: "bench",
  isDev: true,
  baseUrl: origin!,
  ...(checkpointing === "off" ? { checkpointing: false } : {}),
});
const threeSteps = inngest.createFunction(
  { id: "three-steps", triggers: [{ event: "bench/run" }], idempotency: "event.data.n" },
  async ({ event, step }) => {
    const a = await step.run("a", () => 1);
    const b = await step.run("b", () => a + 1);
    const c = await step.run("c", () => b + 1);
    return { n: event.data.n, c };
  },
);
const server = createServer(serve({ client: inngest, functions: [threeSteps] }));
process.on("message", (message) => {
  if (message === "cpu") process.send!({ cpu: process.cpuUsage() });
  if (message === "stop") process.exit(0);
});
server.listen(0, "127.0.0.1", () => {
  const { port } = server.address() as AddressInfo;
  process.send!({ url: `http://127.0.0.1:${port}/api/inngest` });
});
