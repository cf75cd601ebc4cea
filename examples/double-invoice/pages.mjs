// What a person watches: one address on this machine, and under it the dashboard of each act, beside the engine that plays it.
import { request as ask, createServer } from "node:http";
import { pipeline } from "node:stream";
import { asListener } from "idem/node";

export async function openPages() {
  const shown = new Map();
  let newest = null;
  const server = createServer((request, response) => {
    const [, act] = /^\/(act-\d)(?=[/?]|$)/.exec(request.url) ?? [];
    const listener = shown.get(act);
    if (listener !== undefined) listener(request, response);
    else if (newest !== null && !request.url.startsWith("/act-")) {
      response.writeHead(302, { location: `/${newest}/`, "cache-control": "no-store" }).end();
    } else answerLater(response, "This act has not begun.");
  });
  // Only this machine can look: nobody is asked who they are.
  await new Promise((resolve, reject) => server.once("error", reject).listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${server.address().port}`;
  const put = (act, listener) => {
    shown.set(act, listener);
    newest = act;
  };
  const clients = [];
  return {
    origin,
    addressOf: (act) => `${origin}/${act}/`,
    /** Beside an engine of this process, which stays open for whoever still looks. */
    show: (act, idem) => {
      put(act, asListener(idem.dashboard({ base: `/${act}`, dev: true })));
      clients.push(idem);
    },
    /** Beside the engine of another process, which says where it listens. */
    showAt: (act, port) => put(act, forwardTo(port)),
    close: async () => {
      await Promise.all(clients.map((idem) => idem.stop({ grace: 0 })));
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A process that was killed answers nobody; its pages say so, and come back with the next one. */
const forwardTo = (port) => (request, response) => {
  const { method, url, headers } = request;
  const forwarded = ask({ host: "127.0.0.1", port, method, path: url, headers }, (answer) => {
    response.writeHead(answer.statusCode, answer.headers);
    // Events are read as they come.
    response.flushHeaders();
    pipeline(answer, response, () => {});
  });
  forwarded.on("error", () => {
    if (response.headersSent) response.destroy();
    else answerLater(response, "The worker is gone; the next one shows this act again.");
  });
  response.on("close", () => forwarded.destroy());
  pipeline(request, forwarded, () => {});
};

/** Browsers ask again by themselves. */
const answerLater = (response, why) =>
  response.writeHead(503, { "retry-after": "1", refresh: "1", "content-type": "text/plain" }).end(`${why}\n`);
