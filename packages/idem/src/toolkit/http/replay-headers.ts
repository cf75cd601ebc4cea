// Headers of a response that are kept and replayed. A list of those allowed, because the first caller's cookie, the CORS answer to their
// origin or the id of their trace are nobody else's.
import { errors } from "../../model/errors.ts";

type Headers = readonly (readonly [string, string])[];

const kept = new Set([
  "content-type",
  "content-language",
  "content-disposition",
  "location",
  "etag",
  "last-modified",
  "link",
]);

/** No route can ask for these: they belong to one connection, one caller or one moment. */
const never =
  /^(?:set-cookie2?|authorization|authentication-info|www-authenticate|proxy-.*|connection|keep-alive|te|trailer|transfer-encoding|upgrade|content-length|content-encoding|content-range|date|age|vary|access-control-.*|timing-allow-origin|server-timing|(?:x-)?(?:request|correlation|trace)-id|traceparent|tracestate|baggage|b3|x-b3-.*|x-amzn-trace-id|x-amzn-requestid|x-cloud-trace-context|idempotent-replayed|idempotency-.*|idem-.*|preference-applied|retry-after)$/;

const nameForm = /^[!#$%&'*+.^_`|~0-9a-z-]+$/;
// RFC 9110, 5.5, without the line breaks and controls that would begin another header.
const valueForm = /^[\t\x20-\x7e\x80-\xff]*$/;

const isSafe = (name: string, value: string): boolean =>
  nameForm.test(name) && valueForm.test(value) && !never.test(name);

/** For the record. `more` is the route's own list. */
export const headersToKeep = (headers: Headers, more: readonly string[]): [string, string][] =>
  headers
    .map(([name, value]): [string, string] => [name.toLowerCase(), value])
    .filter(([name, value]) => (kept.has(name) || more.includes(name)) && isSafe(name, value));

/** For a replay: a row may have been written by another version, or by hand, so it is checked again. */
export const headersToReplay = (headers: Headers): [string, string][] =>
  headers
    .map(([name, value]): [string, string] => [String(name).toLowerCase(), String(value)])
    .filter(([name, value]) => isSafe(name, value));

/** The route's list in lower case. */
export function checkedReplayHeaders(names: readonly string[]): readonly string[] {
  return names.map((given) => {
    const name = given.toLowerCase();
    if (!nameForm.test(name) || never.test(name)) {
      throw errors.TOOLKIT_OPTION_INVALID({
        call: "idempotency",
        option: "replayHeaders",
        why: `"${given}" belongs to one caller or one connection and is never told to another`,
      });
    }
    return name;
  });
}
