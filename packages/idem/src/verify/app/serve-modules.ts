// A program of Idem's own functions as an app: its modules are loaded in a process of their own, and the functions of its client served there, whatever the
// program does to start them itself. Given: a list of modules, as JSON, and the path to serve at.
import { createServer } from "node:http";
import { nodePlatform } from "../../platform/node-platform.ts";
import { commandLine } from "../../platform/node-thread.ts";
import { defaultServer } from "../../sdk/remote-server.ts";
import { type TakenClient, takeClients } from "../../sdk/take-client.ts";
import { nodeHandler } from "../../serve/node-handler.ts";
import { MemoryStore } from "../../store/memory/store.ts";
import { loadModules, openLoader } from "../worker/load-modules.ts";
import { programPort } from "./control-messages.ts";

const [, , modules, path] = commandLine();
const taken: TakenClient[] = [];
const scratch = new MemoryStore(nodePlatform);
takeClients(() => ({ platform: nodePlatform, scratch, take: (each) => void taken.push(each) }));
await openLoader("typescript");
await loadModules(JSON.parse(modules!) as string[]);
takeClients(null);
for (const each of taken) each.servedBy(defaultServer);
const handlers = taken
  .filter(({ codes }) => codes.length > 0)
  .map(({ client }) => nodeHandler(client, { dev: true }, "idem-verify"));
createServer((request, response) => {
  const index = Number((request.url ?? "").slice(path!.length).split("?")[0]);
  const handle = request.url?.startsWith(path!) === true ? handlers[index] : undefined;
  if (handle === undefined) response.writeHead(404).end();
  else void handle(request, response);
}).listen(programPort, "127.0.0.1");
