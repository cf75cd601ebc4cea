// An app's registration of its functions at a server (docs/reference/wire.md#syncs).

import type { FlowConfig } from "../flow/options.ts";
import type { EntriesConfig } from "../model/entries.ts";
import type { FormerIds } from "../model/former-ids.ts";
import { defaultWindowMs, type FunctionConfig, functionSlug, type KeyConfig } from "../model/function-config.ts";
import { writeFlow, writeTrigger } from "./wire-flow.ts";

export interface FunctionToRegister {
  readonly fn: string;
  readonly config: FunctionConfig;
  /** Of its code; absent where it is not said. */
  readonly fingerprint?: string;
}

/** One entry of `functions`. `url` is the app's own; what a call adds to it is added here. */
export function writeFunction(of: FunctionToRegister, app: string, url: string): object {
  const { config, fingerprint } = of;
  // By the name of today, which every server takes; one that knows of `was` records it under the first of those.
  const fn = functionSlug(app, config.id);
  return {
    id: fn,
    ...(config.was === undefined ? {} : { was: config.was }),
    name: config.name,
    triggers: config.triggers.map(writeTrigger),
    steps: {
      step: {
        id: "step",
        name: "step",
        runtime: { type: "http", url: callUrl(url, fn) },
        // On the wire "attempts" is the number of retries.
        retries: { attempts: config.retries },
      },
    },
    ...timeoutsOf(config),
    ...(config.entries === undefined ? {} : { entries: entriesOf(config.entries) }),
    ...divergedOf(config),
    ...(fingerprint === undefined ? {} : { fingerprint }),
    ...(config.idempotency === null ? unkeyedOf(config) : keyOf(config.idempotency, config)),
    ...writeFlow(config),
  };
}

export interface Registration {
  readonly app: string;
  /** The app's earlier names. */
  readonly was: FormerIds | null;
  readonly url: string;
  readonly framework: string;
  readonly sdkVersion: string;
  readonly deployId: string | null;
  readonly functions: readonly FunctionToRegister[];
}

export const capabilities = { trust_probe: "v1" } as const;

export const sdkName = (version: string): string => `idem:v${version}`;

// A server takes 4 MiB for a registration; a thousand functions without schemas are 1 MiB of it. Functions beyond go without.
const schemasBytesMax = 1024 * 1024;

function writeSchemas({ config: { dataSchemas } }: FunctionToRegister, budget: { left: number }): object {
  if (dataSchemas === undefined) return {};
  const bytes = Buffer.byteLength(JSON.stringify(dataSchemas));
  if (bytes > budget.left) return {};
  budget.left -= bytes;
  // As text: readers of registrations drop nulls and bound depths, and a schema has both.
  return { dataSchemas };
}

function writeFunctions({ functions, app, url }: Registration): object[] {
  const budget = { left: schemasBytesMax };
  return functions.map((each) => ({ ...writeFunction(each, app, url), ...writeSchemas(each, budget) }));
}

export const writeRegistration = (registration: Registration): object => ({
  url: registration.url,
  deployType: "ping",
  framework: registration.framework,
  appName: registration.app,
  ...formerApps(registration.was),
  sdk: sdkName(registration.sdkVersion),
  v: "0.1",
  ...(registration.deployId === null ? {} : { deployId: registration.deployId }),
  capabilities,
  functions: writeFunctions(registration),
});

export const formerApps = (was: FormerIds | null): object => (was === null ? {} : { was });

function callUrl(url: string, fn: string): string {
  const call = new URL(url);
  call.searchParams.set("fnId", fn);
  call.searchParams.set("stepId", "step");
  return call.href;
}

const entriesOf = ({ max, onMax, delayMs }: EntriesConfig): object => ({ max, onMax, delay: `${delayMs}ms` });
const unkeyedOf = ({ unkeyed }: FunctionConfig): object =>
  unkeyed === undefined ? {} : { idempotency: { none: unkeyed } };
const divergedOf = ({ onDiverged }: FunctionConfig): object => (onDiverged === undefined ? {} : { onDiverged });

function timeoutsOf({ startTimeoutMs, finishTimeoutMs }: FunctionConfig): object {
  if (startTimeoutMs === null && finishTimeoutMs === null) return {};
  return {
    timeouts: {
      ...(startTimeoutMs === null ? {} : { start: `${startTimeoutMs}ms` }),
      ...(finishTimeoutMs === null ? {} : { finish: `${finishTimeoutMs}ms` }),
    },
  };
}

/**
 * Text where it is what the wire knows, a key for 24 hours that replaces a rate limit; what an Idem server can do beyond that is
 * said, not left out.
 */
function keyOf(
  { key, windowMs, untilFinished, afterFailure, onMissing }: KeyConfig,
  { rateLimit }: FlowConfig,
): object {
  const isPlain =
    windowMs === defaultWindowMs &&
    !untilFinished &&
    afterFailure === "keep" &&
    onMissing === "run" &&
    rateLimit === undefined;
  const window = untilFinished ? "until-finished" : windowMs;
  return { idempotency: isPlain ? key : { key, window, afterFailure, onMissing } };
}
