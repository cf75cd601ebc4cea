// A server elsewhere, as a command reaches it: by its address and a key, through /api. Its answers have the types of its routes.
import { type ErrorCode, errorTable, IdemError } from "../model/errors.ts";
import type { HttpResponse } from "../platform/platform.ts";
import { RemoteServer } from "../sdk/remote-server.ts";
import { type AskedOf, answerTo, requestTo } from "../sdk/server-api.ts";
import type { Answer, Asked, RouteName } from "../server/api/api-table.ts";
import { exitCodeOfCode, Refusal, unusable, usage } from "./exit.ts";
import type { Io } from "./terminal.ts";

export interface ServerAddress {
  readonly url: string;
  /** A signing key of the environment; IDEM_SIGNING_KEY or IDEM_PASSWORD unless given. */
  readonly key: string | undefined;
}

export interface ServerLine {
  /** Its address, for people. */
  readonly where: string;
  /** Null for what is not there. */
  ask<E extends RouteName>(route: E, asked: Asked<E> & AskedOf): Promise<Answer<E> | null>;
}

export function lineTo(io: Pick<Io, "env" | "platform">, { url, key }: ServerAddress, env: string): ServerLine {
  if (URL.canParse(url) && (new URL(url).username !== "" || new URL(url).password !== "")) {
    throw usage("An address with a password in it is seen by others: set IDEM_PASSWORD or IDEM_SIGNING_KEY instead.");
  }
  const kept = ["IDEM_SIGNING_KEY", "IDEM_SIGNING_KEY_FALLBACK"].flatMap((name) => io.env(name) || []);
  const signingKeys = key === undefined ? kept : [key];
  const password = io.env("IDEM_PASSWORD") ?? "";
  const headers: Record<string, string> =
    signingKeys.length > 0 || password === ""
      ? {}
      : { authorization: `Basic ${Buffer.from(`idem:${password}`).toString("base64")}` };
  const server = new RemoteServer({ server: url, eventKey: null, signingKeys, env }, io.platform);
  return {
    where: server.origin,
    async ask(route, asked) {
      const { what, once = false } = asked;
      const response = await server.ask({ ...requestTo(route, asked, { what, once }), headers }).catch((error) => {
        throw error instanceof IdemError && error.code === "SERVER_UNREACHABLE"
          ? unusable(error.message, error)
          : error;
      });
      const told = toldBy(response);
      if (response.status === 404 && (told === null || absences.includes(told.code))) return null;
      if (told !== null && refusals.includes(told.code)) throw unusable(told.message);
      if (response.status === 401 || response.status === 403) {
        throw unusable(
          `The server at ${server.origin} does not know who asks, or does not let them (${response.status}): set IDEM_SIGNING_KEY (or --signing-key) to a signing key of the environment, or IDEM_PASSWORD. Nothing was done.`,
        );
      }
      if (told !== null && !aboutRequests.includes(told.code))
        throw new Refusal(exitCodeOfCode(told.code), told.message);
      return answerTo(server, route, response, what);
    },
  };
}

/** The thing is not there: the asking command knows what to say. */
const absences: readonly ErrorCode[] = [
  "RUN_UNKNOWN",
  "FUNCTION_UNKNOWN",
  "SUBJECT_UNKNOWN",
  "KEY_UNKNOWN",
  "ALERT_UNKNOWN",
];
/** The asker is known, and this is not for them. */
const refusals: readonly ErrorCode[] = ["FORBIDDEN_ROLE", "BACKUP_OF_OTHERS"];
/** Said with the server's name: the command and the server do not understand each other. */
const aboutRequests: readonly ErrorCode[] = ["REQUEST_INVALID", "BODY_INVALID", "ROUTE_UNKNOWN"];

/** A refusal for a reason of Idem's own is said as the store would say it. */
function toldBy({ status, body }: HttpResponse): { readonly code: ErrorCode; readonly message: string } | null {
  // Something a server never does (501) or could not do (502) has a reason of its own too; a busy one is asked again.
  if (status < 400 || status === 500 || status > 502) return null;
  try {
    const { code, detail } = JSON.parse(body) as Record<string, unknown>;
    if (typeof code !== "string" || typeof detail !== "string" || !Object.hasOwn(errorTable, code)) return null;
    const { next } = errorTable[code as ErrorCode];
    return { code: code as ErrorCode, message: `${detail.replace(/\.$/, "")}. ${next}. [${code}]` };
  } catch {
    // No JSON: a proxy's page, most likely.
    return null;
  }
}
