// Carries attacks to the server, and brings back its reactions.
import { once } from "node:events";
import { Agent, request as httpRequest, type IncomingMessage } from "node:http";
import { connect } from "node:net";
import type { Attack, HttpAttack, RawAttack } from "./requests.suite.ts";

export interface Answer {
  readonly status: number;
  readonly text: string;
}

/** `cut`: the line was closed without an answer, which is an answer to what is no request. */
export type Reaction = Answer | "cut" | "silent";

// A route that does not wait answers long before, on any machine.
const answerMsMax = 30_000;
// Long enough for a route that waits to have begun to.
const waitingMsMax = 250;
const agent = new Agent({ keepAlive: true, maxSockets: 200 });

export function carry(port: number, attack: Attack): Promise<Reaction> {
  if (attack.kind === "raw") return sendRaw(port, attack);
  return send(port, attack, attack.waits ? waitingMsMax : answerMsMax);
}

export function send(
  port: number,
  { method, path, headers, body }: Pick<HttpAttack, "method" | "path" | "headers" | "body">,
  msMax = answerMsMax,
): Promise<Reaction> {
  return new Promise((resolve) => {
    const request = httpRequest({ host: "127.0.0.1", port, method, path, headers, agent });
    const done = (reaction: Reaction) => {
      clearTimeout(patience);
      resolve(reaction);
    };
    const patience = setTimeout(() => {
      done("silent");
      request.destroy();
    }, msMax);
    request.on("error", () => done("cut"));
    request.on("response", (response: IncomingMessage) => {
      const status = response.statusCode!;
      // A stream goes on for ever; that it begins is enough.
      if (/event-stream/.test(response.headers["content-type"] ?? "")) {
        done({ status, text: "" });
        request.destroy();
        return;
      }
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", () => done("cut"));
      response.on("end", () => done({ status, text: Buffer.concat(chunks).toString() }));
    });
    request.end(body ?? undefined);
  });
}

/** The first answer on the line, if there was one. */
async function sendRaw(port: number, { bytes, holdMs }: RawAttack): Promise<Reaction> {
  const socket = connect(port, "127.0.0.1");
  const chunks: Buffer[] = [];
  socket.on("error", () => {});
  socket.on("data", (chunk) => chunks.push(chunk));
  socket.write(bytes);
  const closed = once(socket, "close");
  const end = setTimeout(() => socket.end(), holdMs);
  const cut = setTimeout(() => socket.destroy(), holdMs + 1_000);
  await closed;
  clearTimeout(end);
  clearTimeout(cut);
  const text = Buffer.concat(chunks).toString("latin1");
  const [, status] = /^HTTP\/1\.1 (\d+)/.exec(text) ?? [];
  return status === undefined ? "cut" : { status: Number(status), text };
}
