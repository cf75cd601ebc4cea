// Requests nobody should send, to every route of the table. Most are well-formed HTTP around something wrong, for they get
// furthest; some are not HTTP at all.
import type { Route } from "../route.ts";
import { type Body, bodyFor } from "./bodies.suite.ts";
import type { Chance } from "./chance.suite.ts";
import { sampledBody, sampledParams, sampledQuery } from "./samples.suite.ts";

export interface HttpAttack {
  readonly kind: "http";
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | null;
  /** Whether its route may take its time. */
  readonly waits: boolean;
}

/** Bytes on a line, which is then kept open for a while or closed. */
export interface RawAttack {
  readonly kind: "raw";
  readonly bytes: Buffer;
  readonly holdMs: number;
}

export type Attack = HttpAttack | RawAttack;

export interface Target {
  readonly routes: readonly Route[];
  readonly socketPaths: readonly string[];
  readonly eventKey: string;
  readonly signingKey: string;
  /** Ids that exist. */
  readonly runId: string;
  readonly eventId: string;
}

export function attackOn(target: Target, chance: Chance): Attack {
  return chance.is(0.9) ? httpAttack(target, chance) : rawAttack(target, chance);
}

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD", "PROPFIND", "LOCK", "SEARCH"];

function httpAttack(target: Target, chance: Chance): HttpAttack {
  const route = chance.of(target.routes);
  const method = chance.is(0.85) ? route.method : chance.of(methods);
  const path = chance.is(0.03) ? `/${paramFor(target, "x", chance)}` : pathFor(route, target, chance);
  const isAlone = (method === "GET" || method === "HEAD") && !chance.is(0.02);
  const body = isAlone ? null : bodyFor(path, chance.is(0.8) ? sampledBody(route, path, chance) : null, chance);
  return {
    kind: "http",
    method,
    path: path + queryFor(route, target, chance),
    headers: headersFor(target, body, chance),
    body: body?.bytes ?? null,
    waits: route.waits === true || route.streams === true,
  };
}

const pathFor = (route: Route, target: Target, chance: Chance): string =>
  route.path.replaceAll(/:(\w+)/g, (_, name) => paramFor(target, name, chance));

function paramFor(target: Target, name: string, chance: Chance): string {
  if (name === "key" && chance.is(0.7)) return target.eventKey;
  const known = sampledParams[name];
  if (known !== undefined && chance.is(0.7)) return encodeURIComponent(chance.of(known));
  switch (chance.below(12)) {
    case 0:
      return "%00";
    case 1:
      return "%ff%fe";
    case 2:
      return "%";
    case 3:
      return "..%2f..%2fetc";
    case 4:
      return "a".repeat(1 + chance.below(3_000));
    case 5:
      return chance.of(["__proto__", "constructor", "toString", "undefined", "null", "-1", "1e999", "~"]);
    case 6:
      return encodeURIComponent(String.fromCodePoint(0x20 + chance.below(0xd000)).repeat(1 + chance.below(20)));
    case 7:
      return encodeURIComponent("'; drop table runs; --");
    case 8:
      return target.eventId;
    case 9:
      return "01JD0000000000000000000000";
    default:
      return target.runId;
  }
}

const queryNames = [
  "limit",
  "cursor",
  "before",
  "after",
  "name",
  "state",
  "function",
  "key",
  "scope",
  "env",
  "token",
  "channel",
  "topic",
  "run_id",
  "received_after",
  "received_before",
  "since",
  "until",
  "deployId",
  "decisions",
  "wait",
  "from",
];

function queryFor(route: Route, target: Target, chance: Chance): string {
  if (chance.is(0.6)) return chance.is(0.05) ? "?" : "";
  const shape = (route.about?.query as { readonly shape?: object } | undefined)?.shape ?? {};
  const names = [...queryNames, ...Object.keys(shape), ...Object.keys(shape), ...Object.keys(shape)];
  const values = [
    "",
    "0",
    "-1",
    "1e9",
    "NaN",
    "%",
    "%ff",
    "%00",
    "failed",
    "default",
    "2026-01-01T00:00:00Z",
    "[]",
    "true",
  ];
  const pairs = Array.from({ length: 1 + chance.below(4) }, () => {
    const value = chance.is(0.7) ? chance.of(values) : paramFor(target, "x", chance);
    return `${chance.of(names)}${chance.is(0.1) ? "[]" : ""}=${value}`;
  });
  // Values it would take as well, mostly alone: beside something wrong nobody looks at them.
  const right = sampledQuery(route, chance).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  const given = right.length > 0 && chance.is(0.6) ? (chance.is(0.7) ? right : [...right, pairs[0]]) : pairs;
  return `?${given.join("&")}`;
}

function headersFor(target: Target, body: Body | null, chance: Chance): Record<string, string> {
  const headers: Record<string, string> = {};
  const seldom = (name: string, values: readonly string[], probability = 0.05) => {
    if (chance.is(probability)) headers[name] = chance.of(values);
  };
  if (body !== null) {
    headers[chance.is(0.9) ? "content-length" : "transfer-encoding"] = "";
    if (headers["transfer-encoding"] === undefined) headers["content-length"] = String(body.bytes.length);
    else headers["transfer-encoding"] = "chunked";
    if (body.contentType !== null) headers["content-type"] = body.contentType;
    if (body.contentEncoding !== null) headers["content-encoding"] = body.contentEncoding;
  }
  headers.authorization = `Bearer ${target.signingKey}`;
  const bearers = [
    "",
    "Bearer",
    "Bearer ",
    `Bearer ${"x".repeat(3_000)}`,
    "Basic ////",
    "Basic",
    "Digest x",
    "bearer \tx",
  ];
  seldom("authorization", bearers, 0.1);
  seldom("x-inngest-env", ["", "default", "other", "..", "a b", "é".repeat(10), "x".repeat(200)]);
  seldom(
    "x-inngest-event-id-seed",
    ["", "1,", "x,y", "1794727034207,yRQDRSeHfIdZEQ==", "9".repeat(400), "-1,AAAA"],
    0.2,
  );
  seldom("x-inngest-expected-server-kind", ["dev", "cloud", "x"]);
  seldom("x-inngest-signature", ["", "t=1&s=2", "t=&s=", "t=1", "s=1"]);
  seldom("x-inngest-sync-kind", ["in_band", "x"]);
  seldom("x-idem-decisions", ["1", "x"]);
  seldom("origin", ["null", "http://evil.example", "http://localhost:3000", ":::", "x".repeat(500)], 0.03);
  seldom("expect", ["100-continue", "x"], 0.01);
  seldom("accept", ["text/event-stream", "", "*/*;q=x"]);
  seldom("x-huge", ["y".repeat(5_000), "y".repeat(20_000)], 0.01);
  if (chance.is(0.01)) for (let i = 0; i < 500; i++) headers[`x-${i}`] = "1";
  return headers;
}

/** Not what node:http would let us send. */
function rawAttack(target: Target, chance: Chance): RawAttack {
  const { path } = chance.of(target.routes);
  const host = "host: localhost\r\n";
  const lines = (text: string): Buffer => Buffer.from(text, "latin1");
  const raw = (bytes: Buffer, holdMs = 0): RawAttack => ({ kind: "raw", bytes, holdMs });
  switch (chance.below(14)) {
    case 0:
      return raw(chance.bytes(1 + chance.below(2_000)));
    case 1:
      return raw(lines(`POST ${path} HTTP/1.1\r\n${host}content-length: 1000\r\n\r\n{"name":`));
    case 2:
      return raw(lines(`POST ${path} HTTP/1.1\r\n${host}transfer-encoding: chunked\r\n\r\nzz\r\nnonsense\r\n`));
    case 3:
      return raw(
        lines(`POST ${path} HTTP/1.1\r\n${host}transfer-encoding: chunked\r\ncontent-length: 4\r\n\r\n0\r\n\r\nGET / `),
      );
    case 4:
      return raw(lines(`POST ${path} HTTP/1.1\r\n${host}content-length: 1\r\ncontent-length: 2\r\n\r\nab`));
    case 5:
      return raw(lines(`GET ${path}\0\xff HTTP/1.1\r\n${host}x: \0\r\n\r\n`));
    case 6:
      return raw(lines(`GET ${path} HTTP/9.9\r\n${host}\r\n`));
    case 7:
      return raw(lines(`GET ${path} HTTP/1.1\r\n\r\n`));
    case 8:
      return raw(lines(`GET /health HTTP/1.1\r\n${host}\r\n`.repeat(50)), 20);
    case 9:
      return raw(lines(`${"X".repeat(50_000)}\r\n\r\n`));
    case 10: {
      const asked = `?token=x&from=${chance.of(["", "0", "-1", "1794919140000001", "1e999", "%00", "9".repeat(400)])}`;
      const where = chance.is(0.5) ? `${chance.of(target.socketPaths)}${chance.is(0.5) ? asked : ""}` : path;
      const key = chance.is(0.5) ? "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\nsec-websocket-version: 13\r\n" : "";
      const upgrade = `connection: upgrade\r\nupgrade: ${chance.of(["websocket", "h2c", "\x7f"])}\r\n${key}`;
      return raw(Buffer.concat([lines(`GET ${where} HTTP/1.1\r\n${host}${upgrade}\r\n`), chance.bytes(200)]), 20);
    }
    case 11:
      return raw(lines(`CONNECT evil.example:443 HTTP/1.1\r\n${host}\r\n`));
    case 12:
      // Slow: a few of them stay open while others are served.
      return raw(lines(`POST ${path} HTTP/1.1\r\n${host}content-length: 100\r\n\r\n{`), 500);
    default:
      return raw(lines(`POST ${path} HTTP/1.1\r\n${host}x-slow`), 500);
  }
}
