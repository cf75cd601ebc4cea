// A route's options with every default in its place, checked when the route is registered: a choice that was not made is a mistake to
// hear of at start, not at the first crash.

import { parseDuration } from "../../model/duration.ts";
import { errors } from "../../model/errors.ts";
import { refuseUnknown } from "../../model/known-options.ts";
import type { OnCrash } from "../keys/key-store.ts";
import type { ExternalBodies, FingerprintOptions, RebuildOptions, RouteOptions } from "./begin.ts";
import type { KeyHeaderRules } from "./read-key-header.ts";
import { checkedReplayHeaders } from "./replay-headers.ts";

export interface RouteSettings {
  readonly onCrash: OnCrash;
  readonly isRequired: boolean;
  readonly methods: readonly string[];
  readonly scope: "route" | "principal";
  readonly leaseMs: number;
  readonly windowMs: number;
  readonly isWaiting: boolean;
  readonly waitMsMax: number;
  readonly store: RouteOptions["store"] | null;
  readonly replayHeaders: readonly string[];
  readonly responseBytesMax: number;
  /** Up to here a response is captured: more than is kept in the row, where it can be put elsewhere. */
  readonly captureBytesMax: number;
  readonly requestBytesMax: number;
  readonly header: string;
  readonly keyRules: KeyHeaderRules;
  readonly fingerprint: FingerprintOptions;
  readonly external: ExternalBodies | null;
  readonly rebuild: RebuildOptions | null;
}

const mebibyte = 1_024 * 1_024;
/** A response that is put elsewhere is in memory whole before. */
const externalBytesMax = 32 * mebibyte;
const windowMsMax = 90 * 24 * 60 * 60 * 1_000;
const waitMsMax = 30_000;

/** One heartbeat in three may be lost; a claimant that died is found out after this long at most. */
const leaseDefault = "60s";
const windowDefault = "24h";
const waitDefault = "10s";

const known = new WeakMap<RouteOptions, RouteSettings>();

/** Of a route of `idempotency`; modes have options of their own beside these. */
export function refuseUnknownRouteOptions(route: RouteOptions): void {
  refuseUnknown<RouteOptions>("a route's options", route, {
    onCrash: true,
    required: true,
    methods: true,
    scope: true,
    lease: true,
    window: true,
    onDuplicate: true,
    maxWait: true,
    store: true,
    onAnswer: true,
    replayHeaders: true,
    responseBytesMax: true,
    requestBytesMax: true,
    key: true,
    fingerprint: true,
    overflow: true,
    rebuild: true,
  });
  refuseUnknownInside(route);
}

export function refuseUnknownInside({ key, fingerprint }: Pick<RouteOptions, "key" | "fingerprint">): void {
  refuseUnknown<NonNullable<RouteOptions["key"]>>("a route's options, key", key, {
    minLength: true,
    pattern: true,
    header: true,
  });
  refuseUnknown<FingerprintOptions>("a route's options, fingerprint", fingerprint, {
    body: true,
    headers: true,
    omit: true,
    pick: true,
  });
}

/** Throws TOOLKIT_OPTION_INVALID or DURATION_INVALID. The same object is read once. */
export function routeSettings(route: RouteOptions): RouteSettings {
  const before = known.get(route);
  if (before !== undefined) return before;
  const settings = readSettings(route);
  known.set(route, settings);
  return settings;
}

function readSettings(route: RouteOptions): RouteSettings {
  const { onCrash, overflow = "tombstone", rebuild = null } = route;
  if (onCrash !== "resume" && onCrash !== "rerun" && onCrash !== "park") {
    throw refuse("onCrash", 'say what becomes of a key whose process died in the middle: "resume", "rerun" or "park"');
  }
  const leaseMs = parseDuration(route.lease ?? leaseDefault, "lease");
  if (leaseMs < 1) throw refuse("lease", "it is no time at all");
  const wait = parseDuration(route.maxWait ?? waitDefault, "maxWait");
  if (wait > waitMsMax) throw refuse("maxWait", "a duplicate is held for 30 seconds at most");
  const responseBytesMax = bytes("responseBytesMax", route.responseBytesMax);
  const external = overflow === "tombstone" ? null : overflow;
  return {
    onCrash,
    isRequired: route.required ?? true,
    methods: (route.methods ?? ["POST", "PATCH"]).map((method) => method.toUpperCase()),
    scope: route.scope ?? "route",
    leaseMs,
    windowMs: parseDuration(route.window ?? windowDefault, "window", windowMsMax),
    isWaiting: route.onDuplicate === "wait",
    waitMsMax: wait,
    store: route.store ?? null,
    replayHeaders: checkedReplayHeaders(route.replayHeaders ?? []),
    responseBytesMax,
    captureBytesMax: external === null ? responseBytesMax : Math.max(responseBytesMax, externalBytesMax),
    requestBytesMax: bytes("requestBytesMax", route.requestBytesMax),
    header: route.key?.header ?? "idempotency-key",
    keyRules: route.key ?? {},
    fingerprint: route.fingerprint ?? {},
    external,
    rebuild,
  };
}

function bytes(option: string, count = mebibyte): number {
  if (!Number.isSafeInteger(count) || count < 0) throw refuse(option, "it is not a number of bytes");
  return count;
}

const refuse = (option: string, why: string) => errors.TOOLKIT_OPTION_INVALID({ call: "idempotency", option, why });
