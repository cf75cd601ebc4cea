// A process that hosts apps written with the Inngest SDK: behind one of its adapters, or as workers that connect. Which server
// they belong to is said by the SDK's own variables in the environment.
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Inngest, Middleware } from "inngest";
import { chain } from "./functions/chain.ts";
import { type AppParts, definer } from "./functions/define.ts";
import { failures } from "./functions/failures.ts";
import { flow } from "./functions/flow.ts";
import { moved } from "./functions/moved.ts";
import { refused } from "./functions/refused.ts";
import { sizes } from "./functions/sizes.ts";
import { ticks } from "./functions/ticks.ts";
import { tools } from "./functions/tools.ts";
import { traces } from "./functions/traces.ts";
import { wrong } from "./functions/wrong.ts";
import type { Adapter, Answer, FunctionSet, HostedApp, HostOptions, Order } from "./messages.ts";
import { release, say } from "./say.ts";

const sets: Readonly<Record<FunctionSet, (parts: AppParts) => any[]>> = {
  chain,
  failures,
  flow,
  moved,
  refused,
  sizes,
  ticks,
  tools,
  traces,
  wrong,
};

// Standard output belongs to the ledger, and functions that fail on purpose are no news.
const quiet = { debug() {}, info() {}, warn() {}, error() {} };

const clients = new Map<string, Inngest.Any>();

function throwingAround(times: number) {
  let left = times;
  return class extends Middleware.BaseMiddleware {
    readonly id = "throws-around";
    override async wrapRequest({ next, runId }: Middleware.WrapRequestArgs) {
      if (runId !== "" && left-- > 0) throw new TypeError("no tenant");
      return next();
    }
  };
}

function parts(app: HostedApp) {
  const { id, checkpointing, throwsAround } = app;
  const inngest = new Inngest({
    id,
    logger: quiet,
    ...(checkpointing === undefined ? {} : { checkpointing }),
    ...(throwsAround === undefined ? {} : { middleware: [throwingAround(throwsAround)] }),
  } as any);
  clients.set(id, inngest);
  const define = definer(inngest, id);
  return { client: inngest, functions: app.functions.flatMap((set) => sets[set]({ inngest, app: id, define })) };
}

const pathOf = ({ id, path }: HostedApp): string => `/api/${path ?? id}`;

type Serve = (apps: readonly HostedApp[]) => Promise<Server | RequestListener>;

const adapters: Readonly<Record<Adapter, Serve>> = {
  node: async (apps) => {
    const { serve } = await import("inngest/node");
    const handlers = new Map(apps.map((app) => [pathOf(app), serve({ ...parts(app), ...streamed(app) })]));
    return (request, response) => {
      const handler = handlers.get(new URL(request.url!, "http://app").pathname);
      if (handler !== undefined) return handler(request, response);
      response.writeHead(404).end();
    };
  },
  express: async (apps) => {
    const [{ default: express }, { serve }] = await Promise.all([import("express"), import("inngest/express")]);
    const router = express();
    // The SDK's guide asks for it; a memo is larger than Express takes by itself.
    router.use(express.json({ limit: "8mb" }));
    for (const app of apps) router.use(pathOf(app), serve({ ...parts(app), ...streamed(app) }));
    return router;
  },
  hono: async (apps) => {
    const [{ Hono }, { getRequestListener }, { serve }] = await Promise.all([
      import("hono"),
      import("@hono/node-server"),
      import("inngest/hono"),
    ]);
    const router = new Hono();
    for (const app of apps) {
      const handler = serve(parts(app));
      router.on(["GET", "PUT", "POST"], pathOf(app), (context) => handler(context));
    }
    return getRequestListener(router.fetch);
  },
};

const streamed = ({ streaming }: HostedApp) => (streaming === true ? { streaming: true } : {});

async function listen(adapter: Adapter, apps: readonly HostedApp[]): Promise<number> {
  const server = createServer((await adapters[adapter](apps)) as RequestListener);
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

async function begin({ apps, by }: HostOptions): Promise<Partial<Record<Adapter, number>>> {
  if (by === "connect") {
    const { connect } = await import("inngest/connect");
    await connect({ apps: apps.map(parts), instanceId: `host-${process.pid}` });
    return {};
  }
  const used = [...new Set(apps.map(({ adapter }) => adapter))];
  const listening = used.map(
    async (adapter) =>
      [
        adapter,
        await listen(
          adapter,
          apps.filter((app) => app.adapter === adapter),
        ),
      ] as const,
  );
  return Object.fromEntries(await Promise.all(listening));
}

async function obey(order: Exclude<Order, { kind: "release" }>): Promise<unknown> {
  const client = clients.get(order.app)!;
  if (order.kind === "signal") return (client as any).sendSignal({ signal: order.signal, data: order.data });
  return client.send(order.events as any);
}

process.on("message", (order: Order) => {
  if (order.kind === "release") return release(order.run);
  const answer = (told: Omit<Answer, "id">) => process.send?.({ id: order.id, ...told });
  obey(order).then(
    (value) => answer({ value }),
    (error) => answer({ error: String(error?.message ?? error) }),
  );
});
// Nobody waits for it any more.
process.on("disconnect", () => process.exit());

say({ kind: "ready", ports: await begin(JSON.parse(process.argv[2]!) as HostOptions) });
