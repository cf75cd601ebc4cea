// What an allow-listed sandbox answered, kept for worlds that are played without it: `--record`. Neither headers nor bodies of requests are kept, and of
// answers nothing that looks like a secret. Pure.
import type { Json } from "./thing.ts";
import type { Fixture } from "./worker/world-script.ts";

const redacted = "‹redacted›";
const secretNames =
  /secret|token|password|passwd|authorization|api_?key|private_?key|credential|cookie|cvc|card_?number|iban|ssn/i;
// Keys with a provider's prefix, JSON web tokens, keys in PEM.
const secretValues = [
  /\b(sk|rk|pk|re|whsec|ghp|gho|xox[abp])[_-][A-Za-z0-9_-]{8,}/g,
  /\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*/g,
  /-----BEGIN [A-Z ]+-----[\s\S]*?-----END [A-Z ]+-----/g,
  /\b(Bearer|Basic) [A-Za-z0-9._~+/=-]{8,}/g,
  /\bAKIA[A-Z0-9]{12,}/g,
];

/** `secrets` are values the environment holds: they are taken out wherever they stand. */
export function redact(value: Json, secrets: readonly string[]): Json {
  if (typeof value === "string") {
    const plain = secretValues.reduce((text, pattern) => text.replace(pattern, redacted), value);
    return secrets.reduce((text, secret) => text.replaceAll(secret, redacted), plain);
  }
  if (Array.isArray(value)) return value.map((each) => redact(each, secrets));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [
      name,
      secretNames.test(name) && typeof each !== "object" ? redacted : redact(each as Json, secrets),
    ]),
  );
}

/** Values of an environment that are secrets by their names. */
export const secretsOf = (env: Readonly<Record<string, string | undefined>>): string[] =>
  Object.entries(env).flatMap(([name, value]) =>
    value !== undefined && value.length >= 8 && /KEY|TOKEN|SECRET|PASS|CREDENTIAL|DSN|AUTH/i.test(name) ? [value] : [],
  );

/** Ids stand for any: the twin's answer is found, too. */
export const patternOf = (pathname: string): string =>
  pathname
    .split("/")
    .map((segment) => (/\d/.test(segment) && !/^v\d+$/.test(segment) ? "*" : segment))
    .join("/");

export function recordedOf(
  { method, url }: { readonly method: string; readonly url: URL },
  { status, body }: { readonly status: number; readonly body: Json },
): Fixture {
  return { method, host: url.host, path: patternOf(url.pathname), status, body };
}

/** What is written to the file: each question once, secrets taken out. */
export function writeRecordings(recorded: readonly Fixture[], secrets: readonly string[]): string {
  const seen = new Map(recorded.map((each) => [`${each.method} ${each.host} ${each.path}`, each]));
  const answers = [...seen.values()].map((each) => ({
    ...each,
    path: redact(each.path, secrets) as string,
    body: redact(each.body ?? null, secrets),
  }));
  return `${JSON.stringify({ version: 1, answers }, null, 2)}\n`;
}

/** Throws, with what is wrong, where the text is no recording. */
export function readRecordings(text: string): Fixture[] {
  const read = JSON.parse(text) as { version?: unknown; answers?: unknown };
  if (read.version !== 1 || !Array.isArray(read.answers)) throw new Error("it is no recording of version 1");
  return read.answers.map((each: Partial<Fixture> | null, i) => {
    const { method, host, path, status, body } = each ?? {};
    if (typeof method !== "string" || typeof host !== "string" || typeof path !== "string") {
      throw new Error(`answer ${i + 1} has no method, host or path`);
    }
    return { method, host, path, status: status ?? 200, body: body ?? null };
  });
}
