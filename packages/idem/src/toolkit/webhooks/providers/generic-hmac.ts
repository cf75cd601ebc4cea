// For senders that sign a body with HMAC and are not in the list.

import { errors } from "../../../model/errors.ts";
import { refuseUnknown } from "../../../model/known-options.ts";
import { jsonOf, words } from "../payload.ts";
import {
  type Delivery,
  type Particulars,
  type TimedProviderOptions,
  type WebhookProvider,
  windowMsDefault,
} from "../provider.ts";
import {
  fromBase64,
  fromHex,
  hmac,
  isAnySame,
  isFault,
  isTimely,
  readSecrets,
  readStamp,
  readTolerance,
  refused,
  signatureHeader,
  verified,
} from "../signature.ts";

export interface GenericHmacOptions extends TimedProviderOptions {
  readonly name?: string;
  /** The header with the signature. */
  readonly header: string;
  /** Stands before it in the header, such as "sha256=". */
  readonly prefix?: string;
  /** Default sha256. */
  readonly algorithm?: "sha1" | "sha256" | "sha512";
  /** Default hex. */
  readonly encoding?: "hex" | "base64";
  /** The header with the time, in seconds; it must be part of what is signed. Without it nothing is ever stale. */
  readonly timestampHeader?: string;
  readonly idHeader?: string;
  /** The signed text: "{timestamp}.{body}", "{id}.{timestamp}.{body}"; default "{body}". */
  readonly signed?: string;
  readonly read?: (delivery: Delivery, payload: unknown) => Partial<Particulars>;
}

export function genericHmac(options: GenericHmacOptions): WebhookProvider {
  refuseUnknown<GenericHmacOptions>("genericHmac", options, {
    secrets: true,
    tolerance: true,
    name: true,
    header: true,
    prefix: true,
    algorithm: true,
    encoding: true,
    timestampHeader: true,
    idHeader: true,
    signed: true,
    read: true,
  });
  const { name = "generic-hmac", header, prefix = "", algorithm = "sha256", encoding = "hex", idHeader } = options;
  const { timestampHeader, signed = "{body}" } = options;
  const keys = readSecrets(name, options.secrets);
  const toleranceMs = readTolerance(name, options.tolerance, { ms: 300_000 });
  const parts = readTemplate(name, signed, { timestamp: timestampHeader, id: idHeader });
  const decode = encoding === "hex" ? fromHex : fromBase64;
  const contentOf = (bytes: Uint8Array, timestamp: string, id: string) =>
    parts.map((part) => {
      if (part === "{body}") return bytes;
      if (part === "{timestamp}") return timestamp;
      return part === "{id}" ? id : part;
    });
  return {
    name,
    ackMs: 5_000,
    windowMs: windowMsDefault,
    verify(delivery, now) {
      const text = signatureHeader(delivery, header);
      if (isFault(text)) return refused(text);
      const given = text.startsWith(prefix) ? decode(text.slice(prefix.length)) : null;
      const stamp = timestampHeader === undefined ? "" : delivery.headers.get(timestampHeader);
      const id = idHeader === undefined ? "" : delivery.headers.get(idHeader);
      if (stamp === null || id === null) return refused("missing");
      const seconds = timestampHeader === undefined ? null : readStamp(stamp);
      if (given === null || (timestampHeader !== undefined && seconds === null)) return refused("malformed");
      const made = keys.map((key) => hmac(algorithm, key, ...contentOf(delivery.bytes, stamp, id)));
      if (!isAnySame(made, [given])) return refused("mismatch");
      return seconds === null || isTimely(seconds * 1_000, now, toleranceMs) ? verified : refused("stale");
    },
    parse: ({ bytes }) => jsonOf(bytes),
    read: (delivery, payload) => ({
      id: idHeader === undefined ? null : words(delivery.headers.get(idHeader)),
      type: null,
      at: null,
      subject: null,
      ...options.read?.(delivery, payload),
    }),
    sign({ secret, bytes, url, id, at }) {
      const stamp = String(Math.floor(at / 1_000));
      const signature = hmac(algorithm, secret, ...contentOf(bytes, stamp, id)).toString(encoding);
      return {
        url,
        headers: {
          [header]: prefix + signature,
          ...(timestampHeader === undefined ? {} : { [timestampHeader]: stamp }),
          ...(idHeader === undefined ? {} : { [idHeader]: id }),
        },
      };
    },
  };
}

function readTemplate(
  call: string,
  signed: string,
  headers: Readonly<Record<"timestamp" | "id", string | undefined>>,
): readonly string[] {
  const refuse = (option: string, why: string) => errors.TOOLKIT_OPTION_INVALID({ call, option, why });
  const parts = signed.split(/(\{body\}|\{timestamp\}|\{id\})/).filter((part) => part !== "");
  if (!parts.includes("{body}")) throw refuse("signed", "it does not contain {body}, so any body would do");
  for (const name of ["timestamp", "id"] as const) {
    const isSigned = parts.includes(`{${name}}`);
    if (isSigned && headers[name] === undefined)
      throw refuse("signed", `it has {${name}}, but ${name}Header is not given`);
    // A time nobody signed can be changed in a repeated delivery.
    if (name === "timestamp" && headers[name] !== undefined && !isSigned) {
      throw refuse("timestampHeader", "the time is not part of what is signed");
    }
  }
  return parts;
}
