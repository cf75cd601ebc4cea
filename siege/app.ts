// An honest app, in its own process: functions of Idem's own SDK that the server calls, one of a worker that connects, and a route behind an
// Idempotency-Key. It tells its parent of each run, by the number that was sent.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import Database from "better-sqlite3";
import { Idem } from "idem";
import { ANONYMOUS_SHARED, idempotency, sqlKeys } from "idem/http";
import { idempotent, serve } from "idem/node";
import { ensureTables, sqliteAdapter } from "idem/sql";
import { Inngest } from "inngest";
import { connect } from "inngest/connect";
import { appPath, type CapturedCall, capturedPath, keyedPath } from "./target.ts";

const server = process.env.SIEGE_SERVER!;
const eventKey = process.env.SIEGE_EVENT_KEY!;
const signingKey = process.env.SIEGE_SIGNING_KEY!;

const ran = (n: unknown) => process.send!({ ran: n });

const idem = new Idem({ id: "siege", server, eventKey, signingKey });
idem.createFunction({ id: "served" }, { event: "siege/served" }, async ({ event, step }) => {
  const { n } = event.data as { n: number };
  await step.run("work", () => n + 1);
  ran(n);
});

const adapter = sqliteAdapter(new Database(":memory:"));
await ensureTables(adapter, ["idempotency_keys"]);
const keys = idempotency({ keys: sqlKeys(adapter), principal: ANONYMOUS_SHARED });
const charge = idempotent(keys, { onCrash: "park" }, (_, response) => void response.writeHead(201).end("charged"));
const served = serve(idem);

idem.createFunction({ id: "other" }, { event: "siege/other" }, () => ran(-1));

const captured: CapturedCall[] = [];
const capturedMax = 20;
const capturedBytesMax = 64 * 1024;

/** What an attacker on the wire would have of a call that was executed. */
function capture(request: IncomingMessage, response: ServerResponse): void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const iterate = request[Symbol.asyncIterator].bind(request);
  request[Symbol.asyncIterator] = async function* () {
    for await (const chunk of iterate()) {
      bytes += (chunk as Buffer).length;
      if (bytes <= capturedBytesMax) chunks.push(chunk as Buffer);
      yield chunk;
    }
  } as typeof iterate;
  response.on("finish", () => {
    const { "x-inngest-signature": signature } = request.headers;
    if (request.method !== "POST" || response.statusCode > 206 || typeof signature !== "string") return;
    captured.push({
      query: new URL(request.url!, "http://localhost").search,
      signature,
      body: Buffer.concat(chunks).toString(),
    });
    if (captured.length > capturedMax) captured.shift();
  });
}

const http = createServer((request, response) => {
  const { pathname } = new URL(request.url ?? "/", "http://localhost");
  if (pathname === keyedPath) void charge(request, response);
  else if (pathname === appPath) {
    capture(request, response);
    void served(request, response);
  } else if (pathname === capturedPath) response.end(JSON.stringify(captured));
  else response.writeHead(404).end();
});
// Longer than any stall: a line that is closed just when it is used again would be nobody's refusal.
http.keepAliveTimeout = 60_000;
http.listen(0, "127.0.0.1", async () => {
  const client = new Inngest({ id: "siege-worker", baseUrl: server, isDev: false, eventKey, signingKey });
  const worked = client.createFunction(
    { id: "worked", retries: 0, triggers: [{ event: "siege/worked" }] },
    async ({ event }) => ran((event.data as { n: number }).n),
  );
  await connect({ apps: [{ client, functions: [worked] }], handleShutdownSignals: [] });
  process.send!({ port: (http.address() as AddressInfo).port });
});

// Its parent is gone.
process.on("disconnect", () => process.exit(0));
