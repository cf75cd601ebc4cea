// `verifyEndpoint`: a handler behind an Idempotency-Key, and the clients it has.
import { errors } from "../model/errors.ts";
import { type KnownOptions, refuseUnknown } from "../model/known-options.ts";
import type { SentCall } from "../verify/calls/call-script.ts";
import { firstStart, secondStart } from "../verify/function-script.ts";
import type { Json } from "../verify/thing.ts";
import { entityField, otherFields, withAnother } from "../verify/twin.ts";
import type { HeldReport } from "./held-report.ts";
import type { WorldOptions } from "./verify.ts";
import { type ExportedHandler, type GivenRequest, readRequest, verifyHandler, withHeader } from "./verify-handler.ts";

export interface VerifyEndpointOptions extends WorldOptions {
  /** The header with the key; "Idempotency-Key" by default. */
  readonly keyHeader?: string;
  /** The field of the body that says which thing the request is about. */
  readonly entity?: string;
  /** The body of other work, where it cannot be made from the request's. */
  readonly twin?: unknown;
}

const known: KnownOptions<VerifyEndpointOptions> = {
  keyHeader: true,
  entity: true,
  twin: true,
  fixtures: true,
  accept: true,
  seed: true,
  schedule: true,
  cwd: true,
};

/**
 * If a client sends this request twice, does it happen once? The handler is called in worlds in which a person clicks twice, at one process or at two, answers
 * are lost, processes die between claim and answer and around every effect; the same key comes with another body, and another key with other work, which has
 * to take effect.
 *
 * ```ts
 * const request = new Request("https://shop.example/charges", {
 *   method: "POST",
 *   headers: { "Idempotency-Key": "k1", authorization: "Bearer ann" },
 *   body: JSON.stringify({ orderId: "7", amount: 20 }),
 * });
 * const charge = { module: "src/charge.ts", export: "POST" };
 * (await verifyEndpoint(charge, request)).assertHeld();
 * ```
 */
export async function verifyEndpoint(
  handler: ExportedHandler,
  request: GivenRequest,
  options: VerifyEndpointOptions = {},
): Promise<HeldReport> {
  refuseUnknown<VerifyEndpointOptions>("verifyEndpoint", options, known);
  const { keyHeader = "Idempotency-Key", entity: declared = null, twin } = options;
  const first = await readRequest(request);
  const key = first.headers.find(([name]) => name.toLowerCase() === keyHeader.toLowerCase())?.[1];
  if (key === undefined) {
    throw errors.OPTION_INVALID({
      option: "request",
      why: `it has no ${keyHeader}: without one nobody knows it again`,
    });
  }
  const { pathname } = new URL(first.url);
  const id = `${first.method} ${pathname}`;
  const { data, ...sent } = first;
  const entity = entityField(pathname, data, declared);
  const other = twin === undefined ? (entity === null ? null : withAnother(data, entity)) : toData(twin);
  const [field] = otherFields(data, entity);
  // Of other fields a retry may differ: what was left out of the fingerprint.
  const changed = other ?? (field === undefined ? null : withAnother(data, field));
  const call = (what: string, withKey: string, body: Json | null): SentCall => ({
    ...sent,
    what: `${id}, key ${withKey}${what}`,
    headers: withHeader(first, keyHeader, withKey),
    body: body === null ? first.body : JSON.stringify(body),
    signing: null,
  });
  const calls: Record<string, SentCall> = {
    first: call("", key, null),
    "other-key": call("", `${key}-again`, null),
    ...(changed === null ? {} : { "other-body": call(" with another body", key, changed) }),
    ...(other === null ? {} : { twin: call(" for other work", `${key}-twin`, other) }),
  };
  const noTwin =
    other === null
      ? "no other work could be made of the body, so nobody knows whether it would take effect; name the field that tells things apart (entity), or give another body (twin)"
      : null;
  return verifyHandler(
    {
      by: "verifyEndpoint",
      id,
      handler,
      isPlain: false,
      sender: "client",
      calls,
      startsMs: [firstStart, secondStart],
      noTwin,
    },
    options,
  );
}

export const toData = (value: unknown): Json => JSON.parse(JSON.stringify(value)) as Json;
