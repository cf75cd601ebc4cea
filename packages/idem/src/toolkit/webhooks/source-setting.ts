// A source that people set up in a running server, without code: who sends, by which secrets, and what its events are called. Kept as a
// setting of the store, secrets included, for a signature can only be checked with them; what is shown of it never has them.
import { createHash } from "node:crypto";
import { z } from "zod";
import { lasting, parseDuration } from "../../model/duration.ts";
import { errors } from "../../model/errors.ts";
import { toJson, valueAt } from "../../model/json.ts";
import { digitsOf, WrittenNumber } from "../../model/long-number.ts";
import { writtenOf } from "./payload.ts";
import { type WebhookProvider, windowMsDefault } from "./provider.ts";
import { providerNames as namedProviders, providerNamed } from "./provider-named.ts";
import { genericHmac } from "./providers/generic-hmac.ts";
import { twilio } from "./providers/twilio.ts";
import type { WebhookEvent } from "./webhook-event.ts";

/** The settings of this kind are sources; their name is the last part of `/w/:source`. */
export const sourceKind = "webhook-source";

export const sourceProviders = [...namedProviders, "generic-hmac"] as const;
export type SourceProvider = (typeof sourceProviders)[number];

/** Whose secret the receiver chooses; every other provider shows one of its own. */
const choosesSecret: ReadonlySet<SourceProvider> = new Set(["github", "standard-webhooks", "generic-hmac"]);

/** Whether a secret of ours will do. */
export const takesSecret = (provider: SourceProvider): boolean => choosesSecret.has(provider);

const name = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, "1 to 64 letters, digits, dots, dashes or underscores");
const header = z.string().regex(/^[A-Za-z0-9-]{1,64}$/, "the name of a header");

/** A person's settings of a source; secrets apart. */
export const sourceFields = {
  provider: z.enum(sourceProviders).describe("Who sends, and so how a delivery is signed"),
  events: z
    .string()
    .min(1)
    .max(100)
    .optional()
    .describe("What names of events begin with, before a slash; the source's name unless given"),
  key: z
    .array(z.string().min(1).max(200))
    .min(1)
    .max(8)
    .optional()
    .describe("Paths in the payload that make two deliveries the same although their ids differ; the first one counts"),
  window: z.string().max(20).optional().describe('How long ids are remembered, such as "60d"; "35d" unless given'),
  allowOtherSenders: z
    .boolean()
    .optional()
    .describe("Whether event keys and the API may send events under the source's names; false by default"),
  publicUrl: z
    .url()
    .max(2_048)
    .optional()
    .describe("Where the provider reaches this source, where that is signed (Twilio)"),
  header: header.optional().describe("generic-hmac: the header with the signature"),
  prefix: z.string().max(32).optional().describe('generic-hmac: what stands before it, such as "sha256="'),
  algorithm: z.enum(["sha1", "sha256", "sha512"]).optional().describe("generic-hmac"),
  encoding: z.enum(["hex", "base64"]).optional().describe("generic-hmac"),
  signed: z.string().max(100).optional().describe('generic-hmac: what is signed; "{body}" unless given'),
  timestampHeader: header.optional().describe("generic-hmac"),
  idHeader: header.optional().describe("generic-hmac: the header that names a delivery"),
} as const;

const sourceConfig = z.strictObject(sourceFields);
export type SourceConfig = z.infer<typeof sourceConfig>;

/** The newest first. Two at most: the one in use, and during a rotation the one before. */
const keptSecrets = z
  .array(z.strictObject({ secret: z.string().min(1).max(1_024), addedAt: z.number() }))
  .min(1)
  .max(2);

const sourceValue = z.strictObject({ config: sourceConfig, secrets: keptSecrets, createdAt: z.number() });
export type SourceValue = z.infer<typeof sourceValue>;

/** What names of its events begin with. Those it quarantines have its own name. */
export const namePrefixes = (name: string, { events = name }: Pick<SourceConfig, "events">): readonly string[] =>
  events === name ? [`${name}/`] : [`${name}/`, `${events}/`];

/** May be shown of a source to anybody. */
export interface ShownSource extends SourceConfig {
  readonly name: string;
  readonly createdAt: number;
  /** A mark to tell secrets apart by, from which they cannot be found. */
  readonly secrets: readonly { readonly mark: string; readonly addedAt: number }[];
}

const refuse = (option: string, why: string) => errors.TOOLKIT_OPTION_INVALID({ call: "webhook source", option, why });

export function readSourceName(given: string): string {
  const read = name.safeParse(given);
  if (!read.success) throw refuse("name", `it must be ${read.error.issues[0]!.message}`);
  return read.data;
}

/** Where a server receives it. */
export const sourcePath = (env: string, name: string): string =>
  env === "default" ? `/w/${name}` : `/w/${encodeURIComponent(env)}/${name}`;

export const readSourceValue = (json: string): SourceValue => sourceValue.parse(JSON.parse(json));

/** Throws for what no delivery could ever be verified with. */
export function newSource(given: SourceConfig, secret: string, now: number): SourceValue {
  const read = sourceConfig.safeParse(given);
  if (!read.success) {
    const [issue] = read.error.issues;
    throw refuse(issue!.path.join("."), issue!.message);
  }
  const value = { config: read.data, secrets: [{ secret, addedAt: now }], createdAt: now };
  providerOf(value);
  windowMsOf(value);
  return value;
}

/** Both are accepted until the old one is dropped. */
export function withSecret(value: SourceValue, secret: string, now: number): SourceValue {
  if (value.secrets.some((kept) => kept.secret === secret)) throw refuse("secret", "the source has it already");
  const changed = { ...value, secrets: [{ secret, addedAt: now }, value.secrets[0]!] };
  providerOf(changed);
  return changed;
}

export const withoutOldSecret = (value: SourceValue): SourceValue => ({ ...value, secrets: [value.secrets[0]!] });

/** A secret of our own, where the provider takes one; null where it shows its own. */
export function generatedSecret(provider: SourceProvider, randomBytes: (count: number) => Uint8Array): string | null {
  if (!choosesSecret.has(provider)) return null;
  const bytes = Buffer.from(randomBytes(32));
  return provider === "standard-webhooks" ? `whsec_${bytes.toString("base64")}` : bytes.toString("hex");
}

/** The one that was given, or one that is made here, to be shown once. Throws where the provider has its own and none was given. */
export function chooseSecret(
  provider: SourceProvider,
  given: string | undefined,
  randomBytes: (count: number) => Uint8Array,
): { readonly secret: string; readonly made: string | null } {
  if (given !== undefined) return { secret: given, made: null };
  const made = generatedSecret(provider, randomBytes);
  if (made === null) throw refuse("secret", `${provider} shows a secret of its own; give that one`);
  return { secret: made, made };
}

export const shownSource = (name: string, { config, secrets, createdAt }: SourceValue): ShownSource => ({
  name,
  ...config,
  createdAt,
  secrets: secrets.map(({ secret, addedAt }) => ({ mark: markOf(secret), addedAt })),
});

const markOf = (secret: string): string =>
  createHash("sha256").update(`idem webhook ${secret}`).digest("hex").slice(0, 8);

export function providerOf({ config, secrets: kept }: SourceValue): WebhookProvider {
  const secrets = kept.map(({ secret }) => secret);
  const { provider, publicUrl } = config;
  if (provider === "twilio" && publicUrl !== undefined) return twilio({ secrets, publicUrl });
  if (provider !== "generic-hmac") return providerNamed(provider, { secrets });
  const { header: signatureHeader, prefix, algorithm, encoding, signed, timestampHeader, idHeader } = config;
  if (signatureHeader === undefined) throw refuse("header", "generic-hmac needs the header that has the signature");
  return genericHmac({
    secrets,
    header: signatureHeader,
    ...(prefix === undefined ? {} : { prefix }),
    ...(algorithm === undefined ? {} : { algorithm }),
    ...(encoding === undefined ? {} : { encoding }),
    ...(signed === undefined ? {} : { signed }),
    ...(timestampHeader === undefined ? {} : { timestampHeader }),
    ...(idHeader === undefined ? {} : { idHeader }),
  });
}

/** Of a source as it is shown, without its secrets. Providers differ in how they sign, not in how long ids are remembered. */
export const shownWindowMs = ({ window }: Pick<SourceConfig, "window">): number =>
  window === undefined ? windowMsDefault : parseDuration(window, "window");

export function windowMsOf(value: SourceValue): number {
  const { window } = value.config;
  const known = providerOf(value).windowMs;
  return window === undefined ? known : lasting(parseDuration(window, "window"), "window", refuse);
}

/** Undefined where the delivery's own id is what counts. */
export function businessKeyOf({ config: { key } }: SourceValue) {
  if (key === undefined) return undefined;
  return ({ payload }: WebhookEvent): readonly (string | number | null)[] => {
    const parts = key.map((path) => valueAt(writtenOf(payload), path));
    // Deliveries that lack the field are not all the same one.
    if (parts.every((part) => part === null)) throw new Error(`its payload has nothing at ${key.join(", ")}`);
    return parts.map((part) =>
      part instanceof WrittenNumber
        ? `number ${digitsOf(part.text)}`
        : typeof part === "string" || typeof part === "number" || part === null
          ? part
          : toJson(part, "The key"),
    );
  };
}
