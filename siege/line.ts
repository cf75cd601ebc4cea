// One request and what came of it, and lines on which only what is given is said.
import { Agent, request as httpRequest } from "node:http";
import { connect, type Socket } from "node:net";

export interface Asked {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer | string;
  readonly agent?: Agent;
}

/** A status; `cut` for a line that was closed without one, `silent` for one on which nothing came in two minutes, `held` for one still open at the end. */
export type Reaction = number | "cut" | "silent" | "held";

export interface Answer {
  readonly reaction: Reaction;
  readonly text: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

const patienceMs = 120_000;
const unheard = (): void => {};
const ownAgent = new Agent({ keepAlive: true, maxSockets: 200 });

export function ask(url: string, { method = "GET", headers = {}, body, agent = ownAgent }: Asked): Promise<Answer> {
  return new Promise((resolve) => {
    const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) };
    const request = httpRequest(url, { method, headers: { ...length, ...headers }, agent });
    let isDone = false;
    const done = (reaction: Reaction, text = "", given: Answer["headers"] = {}) => {
      if (isDone) return;
      isDone = true;
      clearTimeout(patience);
      resolve({ reaction, text, headers: given });
    };
    const patience = setTimeout(() => {
      done("silent");
      request.destroy();
    }, patienceMs);
    request.on("error", () => done("cut"));
    // Answered before its body was sent, a line breaks when the request no longer listens to it.
    request.on("socket", (socket) => socket.off("error", unheard).on("error", unheard));
    request.on("response", (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", () => done("cut"));
      response.on("close", () => done("cut"));
      response.on("end", () => done(response.statusCode!, Buffer.concat(chunks).toString(), response.headers));
    });
    request.end(body);
  });
}

/** Held open from this end, whatever the other one does; `closed` hears what was answered before it was closed, if anything was. */
export function holdLine(url: string, bytes: string, closed: (reaction: Reaction) => void): Socket {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  let said = "";
  socket.on("data", (chunk) => {
    said = (said + chunk.toString("latin1")).slice(0, 100);
  });
  socket.on("error", unheard);
  socket.on("close", () => closed(Number(/^HTTP\/1\.1 (\d+)/.exec(said)?.[1] ?? Number.NaN) || "cut"));
  if (bytes !== "") socket.write(bytes);
  return socket;
}

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
