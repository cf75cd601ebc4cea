// A retry is the same request by method, path, query, type and body, each by the rules of its kind. The same key with another
// fingerprint is refused in every state of the record.
//
// A record is compared by the version it was written with, so a deploy that starts to use a secret does not turn every retry into a 422.
import { createHash } from "node:crypto";
import { jsonDepthMax, jsonNodeCountMax } from "../../model/json.ts";
import { jsonExcess } from "../../model/json-size.ts";
import { expandedBytesMax } from "../../protocol/content-coding.ts";
import { hasTooManyPairs } from "../../protocol/form-size.ts";
import type { Fingerprint } from "../keys/key-store.ts";
import type { FingerprintOptions } from "./begin.ts";
import { canonicalJson } from "./canonical-json.ts";
import { decodeContent } from "./content-coding.ts";
import { type Field, fieldDigest } from "./field-digest.ts";
import { formPairs, sortedPairs } from "./form-pairs.ts";
import { multipartParts } from "./multipart.ts";

/** SHA-256 of the canonical form. */
const plainVersion = 1;
/** The same under the server's secret: a reader of the table cannot try out bodies. */
const secretVersion = 2;

export interface FingerprintOf {
  readonly method: string;
  /** As `normalisedPath` gives it. */
  readonly path: string;
  /** As it came, with or without its question mark. */
  readonly query: string;
  readonly headers: Headers;
  /** `digest` is the sender's Content-Digest of a body too large to be read; `none` leaves the body out. */
  readonly body:
    | {
        readonly kind: "bytes";
        readonly bytes: Uint8Array;
        /** Bound of a body of this route, also once it is no longer compressed. */
        readonly bytesMax: number;
      }
    | { readonly kind: "digest"; readonly sha256: string }
    | { readonly kind: "none" };
}

export async function fingerprintsOf(
  request: FingerprintOf,
  options: FingerprintOptions,
  secret: string | null,
): Promise<readonly [Fingerprint, ...Fingerprint[]]> {
  const fields = await canonicalFields(request, options);
  const plain = { version: plainVersion, value: fieldDigest(fields) };
  if (secret === null) return [plain];
  return [{ version: secretVersion, value: fieldDigest(fields, secret) }, plain];
}

async function canonicalFields(request: FingerprintOf, options: FingerprintOptions): Promise<Field[]> {
  const { method, path, headers } = request;
  const named = (options.headers ?? []).map((name) => name.toLowerCase()).sort();
  return [
    "idem-fingerprint-1",
    method,
    path,
    queryDigest(request.query.replace(/^\?/, "")),
    essenceOf(headers.get("content-type")),
    named.length === 0 ? digestOfNone : fieldDigest(named.flatMap((name) => [name, headers.get(name)])),
    await bodyDigest(request, options),
  ];
}

const digestOfNone = fieldDigest([]);

function queryDigest(query: string): string {
  if (query === "") return digestOfNone;
  // One field, where pairs are always an even number of them.
  if (hasTooManyPairs(Buffer.from(query))) return fieldDigest([query]);
  return fieldDigest(sortedPairs(formPairs(query)).flat());
}

/** The media type without its parameters, in lower case. */
export const essenceOf = (contentType: string | null): string =>
  (contentType ?? "").split(";", 1)[0]!.trim().toLowerCase();

async function bodyDigest({ headers, body }: FingerprintOf, options: FingerprintOptions): Promise<string> {
  if (body.kind === "none") return fieldDigest(["none"]);
  if (body.kind === "digest") return fieldDigest(["digest", body.sha256]);
  // A body that would become too large is compared as it came.
  const bytesMax = expandedBytesMax(body.bytes.byteLength, body.bytesMax);
  const decoded = await decodeContent(body.bytes, headers.get("content-encoding"), bytesMax);
  const bytes = decoded ?? body.bytes;
  const canonical =
    options.body === "bytes" || decoded === null
      ? null
      : canonicalBody(bytes, headers.get("content-type") ?? "", options);
  return fieldDigest(canonical ?? ["bytes", bytes]);
}

const jsonBounds = { depthMax: jsonDepthMax, nodeCountMax: jsonNodeCountMax };

/** Null where the bytes themselves are compared, as they are where there is more to build than is good. The first field names the rule, so that no two rules can give the same digest. */
function canonicalBody(bytes: Uint8Array, contentType: string, options: FingerprintOptions): Field[] | null {
  const essence = essenceOf(contentType);
  if (essence === "application/json" || essence.endsWith("+json")) {
    const text = jsonExcess(bytes, jsonBounds) === null ? textOf(bytes) : null;
    const json = text === null ? null : canonicalJson(text, options);
    return json === null ? null : ["json", json];
  }
  if (essence === "application/x-www-form-urlencoded") {
    const text = hasTooManyPairs(bytes) ? null : textOf(bytes);
    return text === null ? null : ["form", ...formPairs(text).flat()];
  }
  if (essence === "multipart/form-data") {
    const parts = multipartParts(bytes, contentType);
    if (parts === null) return null;
    return ["parts", ...parts.flatMap((part) => [part.disposition, part.type, part.encoding, sha256(part.content)])];
  }
  return null;
}

const sha256 = (bytes: Uint8Array): Uint8Array => createHash("sha256").update(bytes).digest();

/** Null when it is not UTF-8. A byte order mark stays: no JSON begins with one. */
function textOf(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}
