// For modes that need no table of keys: who asks and for what, without where it is kept.
import { ownLogger } from "../../../execute/log-style.ts";
import { errors } from "../../../model/errors.ts";
import { refuseUnknown } from "../../../model/known-options.ts";
import { nodePlatform } from "../../../platform/node-platform.ts";
import type { IdempotencyKeyOptions } from "../idempotency.ts";
import { ANONYMOUS_SHARED, type ReadWorld, readRequest } from "../read-request.ts";
import { routeSettings } from "../route-settings.ts";
import type { KeyReader } from "./mode-route.ts";

export type KeyReaderOptions = Pick<
  IdempotencyKeyOptions,
  "principal" | "tenant" | "namespace" | "secret" | "docs" | "logger" | "platform"
>;

/**
 * ```ts
 * const requests = keyReader({ principal: (request) => accountOf(request) });
 * ```
 */
export function keyReader(options: KeyReaderOptions): KeyReader {
  refuseUnknown<KeyReaderOptions>("keyReader", options, {
    principal: true,
    tenant: true,
    namespace: true,
    secret: true,
    docs: true,
    logger: true,
    platform: true,
  });
  const { principal, tenant = null, namespace = "default", secret = null, docs = null } = options;
  const { platform = nodePlatform } = options;
  const logger = ownLogger(options.logger ?? console);
  if (typeof principal !== "function" && principal !== ANONYMOUS_SHARED) {
    throw errors.TOOLKIT_OPTION_INVALID({
      call: "keyReader",
      option: "principal",
      why: "say who asks: without it one caller gets another one's answer",
    });
  }
  const report = (what: string, error: unknown) => logger.error(`idempotency: ${what}`, error);
  const world: ReadWorld = { namespace, principal, tenant, secret, docs, report };
  return { platform, read: (request, route, native) => readRequest(request, routeSettings(route), world, native) };
}
