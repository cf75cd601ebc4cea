// The record a request asks for, by who asks, where, with which key. The concrete path, not the route's template: /orders/1 and /orders/2
// are two operations. The principal is a stable subject and never a token, which may be another one at the retry.
import { fieldDigest } from "./field-digest.ts";

/** Changes with the fields or their order: an old record must never be found by another reading of its id. */
const format = "idem-key-1";

export interface RecordOf {
  readonly namespace: string;
  readonly tenant: string | null;
  /** Null for callers who share one scope by the author's choice. */
  readonly principal: string | null;
  readonly method: string;
  /** As `normalisedPath` gives it. */
  readonly path: string;
  readonly key: string;
  readonly scope: "route" | "principal";
}

export function recordId({ namespace, tenant, principal, method, path, key, scope }: RecordOf): string {
  const route = scope === "route" ? [method, path] : [null, null];
  return fieldDigest([format, namespace, tenant, principal, ...route, key]);
}

/** The part of a record's id that may be logged and shown. */
export const hintOf = (id: string): string => id.slice(0, 8);

/**
 * Percent-decoded once, dot segments resolved, no trailing slash, no query. A slash or a percent sign that was encoded inside a segment stays
 * encoded: /files/a%2Fb and /files/a/b are two resources.
 */
export function normalisedPath(url: URL): string {
  const path = url.pathname.split("/").map(decodeSegment).join("/");
  return path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
}

function decodeSegment(segment: string): string {
  if (!segment.includes("%")) return segment;
  try {
    return decodeURIComponent(segment).replaceAll("%", "%25").replaceAll("/", "%2F");
  } catch {
    // Not UTF-8: compared as it was written.
    return segment;
  }
}
