// Twilio. `X-Twilio-Signature` (HMAC-SHA-1, base64) over the address it called, followed by the form's fields in order of their names; a JSON
// body is not in it, its SHA-256 is, as `bodySHA256` in the address. So the address has to be the public one, and behind a proxy it must be given.

import { createHash } from "node:crypto";
import { errors } from "../../../model/errors.ts";
import { refuseUnknown } from "../../../model/known-options.ts";
import { hasTooManyPairs } from "../../../protocol/form-size.ts";
import { at, formOf, jsonOf, words } from "../payload.ts";
import { type ProviderOptions, type WebhookProvider, windowMsDefault } from "../provider.ts";
import {
  fromBase64,
  fromHex,
  hmac,
  isAnySame,
  isFault,
  isSame,
  readSecrets,
  refused,
  signatureHeader,
  verified,
} from "../signature.ts";

export interface TwilioOptions extends ProviderOptions {
  /** Where Twilio reaches this receiver, such as "https://shop.example/w/twilio"; the query is the request's. The request's own address by default. */
  readonly publicUrl?: string;
}

export function twilio(options: TwilioOptions): WebhookProvider {
  refuseUnknown<TwilioOptions>("twilio", options, { secrets: true, publicUrl: true });
  const { secrets, publicUrl } = options;
  const keys = readSecrets("twilio", secrets);
  if (publicUrl !== undefined && !URL.canParse(publicUrl)) {
    throw errors.TOOLKIT_OPTION_INVALID({ call: "twilio", option: "publicUrl", why: "it is no address" });
  }
  return {
    name: "twilio",
    ackMs: 15_000,
    windowMs: windowMsDefault,
    verify(delivery) {
      const header = signatureHeader(delivery, "x-twilio-signature");
      if (isFault(header)) return refused(header);
      const given = fromBase64(header);
      if (given === null) return refused("malformed");
      const digest = digestIn(delivery.url);
      // Nothing is known of the sender yet, and fields are sorted.
      if (digest === null && hasTooManyPairs(delivery.bytes)) return refused("malformed");
      const fields = digest === null ? fieldsOf(formOf(delivery.bytes)) : "";
      const made = keys.flatMap((key) =>
        addressesOf(called(delivery.url, publicUrl)).map((address) => hmac("sha1", key, address, fields)),
      );
      const isSigned = isAnySame(made, [given]);
      // Without it a body that is no form would not be covered by the signature at all; as a form, it is.
      const isWhole = digest === null || isSame(sha256(delivery.bytes), fromHex(digest) ?? new Uint8Array());
      return isSigned && isWhole ? verified : refused("mismatch");
    },
    // As it was verified, and not as its content type says.
    parse: ({ bytes, url }) => (digestIn(url) === null ? Object.fromEntries(formOf(bytes)) : jsonOf(bytes)),
    read: ({ headers }, payload) => ({
      id: words(headers.get("i-twilio-idempotency-token")) ?? stateOf(payload),
      type: typeOf(payload),
      at: null,
      subject: sidOf(payload),
    }),
    sign({ secret, bytes, url, id }) {
      const isForm = !/^\s*[[{]/.test(Buffer.from(bytes.subarray(0, 64)).toString("latin1"));
      const address = new URL(url);
      if (!isForm) address.searchParams.set("bodySHA256", sha256(bytes).toString("hex"));
      // A form's address is signed as it was written.
      const signed = isForm ? url : address.href;
      const signature = hmac("sha1", secret, called(signed, publicUrl), isForm ? fieldsOf(formOf(bytes)) : "");
      return {
        url: signed,
        headers: {
          "x-twilio-signature": signature.toString("base64"),
          "i-twilio-idempotency-token": id,
          "content-type": isForm ? "application/x-www-form-urlencoded" : "application/json",
        },
      };
    },
  };
}

const sha256 = (bytes: Uint8Array): Buffer => createHash("sha256").update(bytes).digest();

const digestIn = (url: string): string | null =>
  URL.canParse(url) ? new URL(url).searchParams.get("bodySHA256") : null;

function called(url: string, publicUrl: string | undefined): string {
  if (publicUrl === undefined) return url;
  const query = url.indexOf("?");
  return query === -1 ? publicUrl : publicUrl + url.slice(query);
}

/** Some of their senders sign the address with the default port, some without. */
function addressesOf(url: string): readonly string[] {
  const parts = /^(https?):\/\/([^/?#:]+)(?::(\d+))?(.*)$/i.exec(url);
  if (parts === null) return [url];
  const [, scheme, host, port, rest] = parts as unknown as [string, string, string, string | undefined, string];
  const usual = scheme.toLowerCase() === "https" ? "443" : "80";
  if (port !== undefined && port !== usual) return [url];
  return [`${scheme}://${host}${rest}`, `${scheme}://${host}:${usual}${rest}`];
}

/** Names and values, sorted by name; of a name that comes twice, each value once and sorted, too. */
function fieldsOf(form: URLSearchParams): string {
  const names = [...new Set(form.keys())].sort();
  return names
    .map((name) =>
      [...new Set(form.getAll(name))]
        .sort()
        .map((value) => name + value)
        .join(""),
    )
    .join("");
}

const sidOf = (payload: unknown): string | null =>
  ["MessageSid", "CallSid", "SmsSid"].map((name) => words(at(payload, name))).find((sid) => sid !== null) ?? null;

const statusOf = (payload: unknown): string | null =>
  ["MessageStatus", "CallStatus", "SmsStatus"].map((name) => words(at(payload, name))).find((it) => it !== null) ??
  null;

function stateOf(payload: unknown): string | null {
  const [sid, status] = [sidOf(payload), statusOf(payload)];
  return sid === null || status === null ? null : `${sid}:${status}`;
}

function typeOf(payload: unknown): string | null {
  const status = statusOf(payload);
  if (status === null) return words(at(payload, "type"));
  return at(payload, "CallSid") === undefined ? `message.${status}` : `call.${status}`;
}
