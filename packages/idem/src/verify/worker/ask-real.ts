// A host that a person allowed to be asked, really asked: `--record`.
import { type ModelRequest, readBody } from "../destination-model.ts";
import type { Json } from "../thing.ts";
import { realClearTimeout, realFetch, realSetTimeout } from "./real.ts";

const realMsMax = 8_000;
const hopsMax = 5;
/** Meant for the host that was asked, wherever it redirects to. */
const personal = new Set(["authorization", "cookie", "proxy-authorization"]);

/** A host that is not allowed is not asked, though an answer redirects there. */
export async function askReal(
  { method, url, headers, body }: ModelRequest,
  hosts: readonly string[],
): Promise<{ readonly status: number; readonly body: Json }> {
  const { host: _host, "content-length": _length, connection: _connection, ...whole } = headers;
  const late = new AbortController();
  const timer = realSetTimeout(() => late.abort(new Error(`no answer in ${realMsMax / 1_000} s`)), realMsMax);
  const reads = method === "GET" || method === "HEAD";
  try {
    let asked = url;
    let sent: Readonly<Record<string, string>> = whole;
    for (let hops = 0; hops <= hopsMax; hops++) {
      const answer = await realFetch(asked, {
        method,
        headers: sent,
        redirect: "manual",
        signal: late.signal,
        ...(reads || body === "" ? {} : { body }),
      });
      const elsewhere = answer.headers.get("location");
      if (!reads || elsewhere === null || answer.status < 300 || answer.status > 399) {
        return { status: answer.status, body: readBody(await answer.text(), answer.headers.get("content-type") ?? "") };
      }
      const before = asked;
      asked = new URL(elsewhere, asked);
      if (asked.origin !== before.origin)
        sent = Object.fromEntries(Object.entries(sent).filter(([name]) => !personal.has(name.toLowerCase())));
      if (!hosts.includes(asked.host)) throw new Error(`it sends to ${asked.host}, which --record does not name`);
    }
    throw new Error("it sends from one address to the next");
  } finally {
    realClearTimeout(timer);
  }
}
