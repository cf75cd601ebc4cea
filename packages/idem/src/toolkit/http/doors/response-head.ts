// The head of a Node response: what it is now, what a `writeHead` makes of it, and putting one back.
import type { OutgoingHttpHeader, ServerResponse } from "node:http";

export interface Head {
  readonly status: number;
  readonly message: string;
  readonly headers: readonly (readonly [string, string])[];
}

export function headOf(response: ServerResponse): Head {
  const headers = Object.entries(response.getHeaders()).flatMap(([name, value]) =>
    [value ?? []].flat().map((one): [string, string] => [name, String(one)]),
  );
  return { status: response.statusCode, message: response.statusMessage, headers };
}

export function putHead(response: ServerResponse, { status, message, headers }: Head): void {
  for (const name of response.getHeaderNames()) response.removeHeader(name);
  for (const [name, value] of headers) response.appendHeader(name, value);
  putStatus(response, { status, message });
}

export function putStatus(response: ServerResponse, { status, message }: Pick<Head, "status" | "message">): void {
  response.statusCode = status;
  response.statusMessage = message;
}

/** Anything Node refuses to send has to be refused before the outcome is stored. */
export function checkHead({ statusCode, statusMessage }: ServerResponse): void {
  if (!Number.isInteger(statusCode) || statusCode < 200 || statusCode > 999) {
    throw coded(new RangeError(`Invalid status code: ${statusCode}`), "ERR_HTTP_INVALID_STATUS_CODE");
  }
  if (/[^\t\x20-\x7e\x80-\xff]/.test(statusMessage ?? "")) {
    throw coded(new TypeError("Invalid character in statusMessage"), "ERR_INVALID_CHAR");
  }
}

type GivenHeaders = Readonly<Record<string, OutgoingHttpHeader | undefined>> | readonly unknown[];

/** The arguments of `writeHead(status, reason?, headers?)`, on the response; headers as an object, a flat list or pairs. */
export function setHead(response: ServerResponse, args: readonly unknown[]): void {
  const [status, second, third] = args;
  response.statusCode = Number(status);
  if (typeof second === "string") response.statusMessage = second;
  const given = (typeof second === "string" ? third : (third ?? second)) as GivenHeaders | undefined;
  const replaced = new Set<string>();
  for (const [name, value] of given === undefined || given === null ? [] : pairsOf(given)) {
    if (value === undefined) continue;
    const values = [value].flat().map(String);
    if (replaced.has(name.toLowerCase())) response.appendHeader(name, values);
    else response.setHeader(name, Array.isArray(value) ? values : values[0]!);
    replaced.add(name.toLowerCase());
  }
}

function pairsOf(given: GivenHeaders): [string, OutgoingHttpHeader | undefined][] {
  if (!Array.isArray(given)) return Object.entries(given as Record<string, OutgoingHttpHeader>);
  if (Array.isArray(given[0])) return given as [string, OutgoingHttpHeader][];
  return given.flatMap((name, at) => (at % 2 === 0 ? [[name, given[at + 1]]] : [])) as [string, OutgoingHttpHeader][];
}

/** A copy: its writer may use the memory again as soon as the write is acknowledged. */
export const bytesOf = (chunk: unknown, encoding: unknown): Buffer =>
  typeof chunk === "string"
    ? Buffer.from(chunk, typeof encoding === "string" ? (encoding as BufferEncoding) : "utf8")
    : Buffer.from(chunk as Uint8Array);

export const headersSentError = (verb: string): Error =>
  coded(new Error(`Cannot ${verb} headers after they are sent to the client`), "ERR_HTTP_HEADERS_SENT");

const coded = (error: Error, code: string): Error => Object.assign(error, { code });
