// Rerunning what an app of the official SDK did: its steps come back from the memo, and the edited one gets what a person gave it.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Inngest, NonRetriableError } from "inngest";
import { serve } from "inngest/node";
import { describe, expect, onTestFinished, test } from "vitest";
import { traceparentOf } from "../../../protocol/traceparent.ts";
import { startServer } from "../../start-server.ts";

const silent = { debug() {}, info() {}, warn() {}, error() {} };

async function shop(checkpointing: boolean) {
  const traceUrl = "https://traces.example/{traceId}";
  const settings = { port: 0, store: "memory:", discovery: false, poll: false, traceUrl };
  const server = await startServer(settings, { logger: silent });
  const entered: string[] = [];
  const client = new Inngest({ id: "shop", isDev: true, baseUrl: server.origin, logger: silent, checkpointing });
  const charge = client.createFunction(
    { id: "charge", triggers: [{ event: "order/paid" }], retries: 0 },
    async ({ step }) => {
      const price = await step.run("price", () => {
        entered.push("price");
        return 10;
      });
      const paid = await step.run(
        "pay",
        async (amount: number) => {
          entered.push(`pay ${amount}`);
          if (amount < 20) throw new NonRetriableError("declined");
          return `paid ${amount}`;
        },
        price,
      );
      return { paid };
    },
  );
  const app = createServer(serve({ client, functions: [charge] }));
  await new Promise<void>((resolve) => app.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    app.closeAllConnections();
    await Promise.all([new Promise((resolve) => app.close(resolve)), server.close({ graceMs: 0 })]);
  });
  const ask = async (method: string, path: string, body?: unknown): Promise<any> => {
    const headers = { "content-type": "application/json" };
    const answer = await fetch(`${server.origin}${path}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return answer.json();
  };
  await ask("POST", "/api/apps", { url: `http://127.0.0.1:${(app.address() as AddressInfo).port}/api/inngest` });
  const engine = await server.world.engine("default");
  const ended = (runId: string) => engine.ends.wait(runId);
  return { ask, ended, entered };
}

describe.each([false, true])("an app of the official SDK, with checkpointing %s", (checkpointing) => {
  test("has its run rerun from a step with edited input, without entering the steps before it", async () => {
    const { ask, ended, entered } = await shop(checkpointing);
    const sent = await ask("POST", "/api/events", { events: [{ name: "order/paid", data: {} }] });
    const { runId } = sent.decisions[0];
    expect(await ended(runId)).toMatchObject({ state: "failed" });
    expect(entered).toEqual(["price", "pay 10"]);
    entered.length = 0;

    const rerun = await ask("POST", `/api/runs/${runId}/rerun`, { fromStep: "pay", input: [42] });
    expect(await ended(rerun.runId)).toMatchObject({ state: "completed", result: '{"paid":"paid 42"}' });
    expect(entered).toEqual(["pay 42"]);
    const { run, trace } = await ask("GET", `/api/runs/${rerun.runId}`);
    // Where the trace of its calls is read.
    const [, traceId] = traceparentOf({ runId: rerun.runId, requestId: "any" }).split("-");
    expect(trace).toEqual({ id: traceId, url: `https://traces.example/${traceId}` });
    expect(run).toMatchObject({ rerunOf: runId, rerunFrom: { name: "pay", keptCount: 1 } });
    expect(run.timeline).toMatchObject([
      { name: "price", isKept: true },
      { name: "pay", isKept: false, input: { value: [42], isEdited: true }, output: { value: "paid 42" } },
    ]);
  });
});
