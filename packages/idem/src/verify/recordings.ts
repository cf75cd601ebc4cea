// Answers of an allow-listed sandbox, kept for worlds that are played without it: `--record`. Neither headers nor bodies of requests are kept, and of
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
function redact(value: Json, secrets: readonly string[]): Json {
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

/** As it may be kept. */
export const withoutSecrets = (recorded: Fixture, secrets: readonly string[]): Fixture => ({
  ...recorded,
  path: redact(recorded.path, secrets) as string,
  body: redact(recorded.body ?? null, secrets),
});

const questionOf = ({ method, host, path }: Fixture): string => `${host} ${path} ${method}`;
const starsIn = ({ path }: Fixture): number => path.split("*").length;

/** Each question once, with the answer that is newest; the first that fits is the one that fits best. */
export function mergeRecordings(before: readonly Fixture[], newer: readonly Fixture[]): Fixture[] {
  const byQuestion = new Map([...before, ...newer].map((each) => [questionOf(each), each]));
  return [...byQuestion.entries()]
    .sort(([one, a], [other, b]) => starsIn(a) - starsIn(b) || (one < other ? -1 : 1))
    .map(([, each]) => each);
}

export const writeRecordings = (answers: readonly Fixture[]): string =>
  `${JSON.stringify({ version: 1, answers }, null, 2)}\n`;

/** The recordings, or what is wrong with them. */
export function readRecordings(written: unknown): Fixture[] | string {
  const { version, answers } = (written ?? {}) as { readonly version?: unknown; readonly answers?: unknown };
  if (version !== 1 || !Array.isArray(answers)) return "it is no recording of version 1";
  const wrong = answers.findIndex((each: Partial<Fixture> | null) =>
    [each?.method, each?.host, each?.path].some((word) => typeof word !== "string"),
  );
  if (wrong >= 0) return `answer ${wrong + 1} has no method, host or path`;
  return answers as Fixture[];
}

/** "sandbox.example:8080" as requests name it; null where it is no host. */
export function readHost(text: string): string | null {
  if (!/^(\[[0-9a-f:.]+\]|[^\s/?#@:*[\]]+)(:\d{1,5})?$/i.test(text)) return null;
  // The ports that are left out of an address.
  const named = text.replace(/:(80|443)$/, "");
  return URL.canParse(`http://${named}`) ? new URL(`http://${named}`).host : null;
}
