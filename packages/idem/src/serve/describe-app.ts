// GET: what is served here (docs/reference/wire.md#what-is-served-here). In dev little is said, because anyone may ask.
import { createHash } from "node:crypto";
import type { AppAnswer } from "../protocol/app-answer.ts";
import { capabilities, sdkName } from "../protocol/app-registration.ts";
import { bearerTokenOf, withoutKeyPrefix } from "../protocol/signing-key.ts";
import type { AppSettings } from "./app-handler.ts";

/** Told to servers with every answer. Written here and not read from package.json, which bundlers leave behind. */
export const version = "0.1.0";

export const sdkHeaders = (framework: string): Record<string, string> => ({
  "x-inngest-sdk": sdkName(version),
  "x-inngest-framework": framework,
});

export const describeApp = (settings: AppSettings): AppAnswer => ({
  status: 200,
  headers: {},
  body: JSON.stringify(inspect(settings)),
});

export function inspect({ served, isDev, framework, url }: AppSettings): Record<string, unknown> {
  const { server } = served;
  const { eventKey, signingKeys, env } = server.options;
  const basics = {
    extra: { native_crypto: true },
    has_event_key: eventKey !== null,
    has_signing_key: signingKeys.length > 0,
    function_count: served.codes().length,
    mode: isDev ? "dev" : "cloud",
    schema_version: "2024-05-24",
  };
  if (isDev) return basics;
  return {
    ...basics,
    authentication_succeeded: true,
    api_origin: server.origin,
    app_id: served.id,
    capabilities,
    env,
    event_api_origin: server.origin,
    event_key_hash: eventKey === null ? null : createHash("sha256").update(eventKey).digest("hex"),
    framework,
    sdk_language: "js",
    sdk_version: version,
    serve_origin: url === null ? null : new URL(url).origin,
    serve_path: url === null ? null : new URL(url).pathname,
    signing_key_hash: keyHash(signingKeys[0]),
    signing_key_fallback_hash: keyHash(signingKeys[1]),
  };
}

/** Enough to see whether both sides mean the same key. */
const keyHash = (key: string | undefined): string | null =>
  key === undefined ? null : withoutKeyPrefix(bearerTokenOf(key)).slice(0, 12);
