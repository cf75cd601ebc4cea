// Apps of the official SDK in a process of their own, which know of the nodes only their load balancer: one behind an address, one whose worker
// connects, one whose handlers are durable endpoints. Each step says when it is entered.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { step as durable, Inngest } from "inngest";
import { connect } from "inngest/connect";
import { createEndpointServer, endpointAdapter, serve } from "inngest/node";
import { type AppName, type FromHost, givenBy, type HostOptions, sleeps, stepsOf, tookMs } from "./messages.ts";

const { origin, signingKey, eventKey } = JSON.parse(process.argv[2]!) as HostOptions;
const quiet = { debug() {}, info() {}, warn() {}, error() {} };
const say = (message: FromHost): void => void process.send!(message);

const clientOf = (id: string, more: object = {}) =>
  new Inngest({ id, baseUrl: origin, isDev: false, signingKey, eventKey, logger: quiet, ...more });

type Step = {
  run(id: string, code: () => Promise<string>): Promise<string>;
  sleep(id: string, time: string): Promise<void>;
};

async function work(app: AppName, n: number, step: Step): Promise<string> {
  const run = (name: string) =>
    step.run(name, async () => {
      say({ kind: "enter", app, n, step: name });
      await wait(tookMs(app, n, name));
      return givenBy(n, name);
    });
  const values: string[] = [];
  const names = stepsOf(app, n);
  for (const name of names) {
    if (name === "right") continue;
    if (name === "left") values.push(...(await Promise.all([run("left"), run("right")])));
    else values.push(await run(name));
    if (name === "b" && sleeps(n)) await step.sleep("rest", "1s");
  }
  return values.join(" ");
}

function functionOf(client: Inngest.Any, app: AppName) {
  const options = { id: "work", retries: 3 as const, triggers: [{ event: `torture/${app}` }] };
  return client.createFunction(
    options as never,
    (async ({ event, step }: any) => work(app, event.data.n, step)) as never,
  );
}

async function listening(server: ReturnType<typeof createServer>): Promise<string> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const shop = clientOf("shop");
const serveUrl = await listening(
  createServer(serve({ client: shop, functions: [functionOf(shop, "serve") as never] })),
);
const pages = clientOf("pages", { endpointAdapter });
const handler = async (request: Request) => {
  const n = Number(new URL(request.url).searchParams.get("n"));
  return { done: await work("endpoint", n, durable as unknown as Step) };
};
const endpointUrl = await listening(createEndpointServer(pages.endpoint(handler as never) as never) as never);
const worker = clientOf("worker");
await connect({ apps: [{ client: worker, functions: [functionOf(worker, "connect") as never] }] });
say({ kind: "ready", serveUrl, endpointUrl });
