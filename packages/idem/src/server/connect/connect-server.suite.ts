// For tests: a gateway behind the real listener, with nothing else of a server.
import { nodePlatform } from "../../platform/node-platform.ts";
import type { AppRegistration } from "../apps.ts";
import { openCredentials } from "../credentials.ts";
import { type Listener, listen } from "../node-listener.ts";
import type { Route, SocketRoute } from "../route.ts";
import { flushReply } from "../routes/wire/flush-reply.ts";
import { startConnection } from "../routes/wire/start-connection.ts";
import { completeSettings } from "../settings.ts";
import { Tokens } from "../tokens.ts";
import type { ServerSettings, World } from "../world.ts";
import type { ConnectLimits } from "./connect-limits.ts";
import { ConnectGateway } from "./connect-remote.ts";
import { connectWorkers } from "./connect-workers.ts";

interface ConnectServerOptions extends Partial<ServerSettings> {
  readonly connectLimits?: Partial<ConnectLimits>;
  readonly start?: Route;
  readonly flush?: Route;
  readonly socket?: SocketRoute;
  readonly onRegister?: (registration: AppRegistration) => void;
}

export interface ConnectServer {
  readonly gateway: ConnectGateway;
  readonly listener: Listener;
  readonly world: World;
  readonly origin: string;
}

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

export async function connectServer(options: ConnectServerOptions = {}): Promise<ConnectServer> {
  const {
    connectLimits = {},
    start = startConnection,
    flush = flushReply,
    socket = connectWorkers,
    ...given
  } = options;
  const { onRegister = () => {}, ...ofServer } = given;
  const settings = completeSettings({ port: 0, store: "memory:", ...ofServer });
  const credentials = openCredentials(settings);
  const gateway = new ConnectGateway({ platform: nodePlatform, logger: silent, limits: connectLimits });
  const world = {
    settings,
    platform: nodePlatform,
    logger: silent,
    credentials,
    tokens: new Tokens(credentials, nodePlatform),
    connect: gateway,
    origin: "http://127.0.0.1:8288",
    apps: {
      register: async (_env: string, registration: AppRegistration) => {
        onRegister(registration);
        return { modified: true };
      },
    },
  } as unknown as World;
  const listener = await listen({ world, routes: [start, flush], sockets: [socket] });
  return { gateway, listener, world, origin: `http://127.0.0.1:${listener.port}` };
}
