// From a request to what identifies it, before anything is looked up. In this order: does a key apply, is it well-formed, who asks, how large
// is the body, what is its fingerprint. A request refused here never touches the store, is never recorded, and is decided again on a replay.
import type { KeyedRequest, ReadRequest } from "./begin.ts";
import { fingerprintsOf } from "./fingerprint.ts";
import { type ProblemFacts, type ProblemKind, problemResponse } from "./problems.ts";
import { readKeyHeader } from "./read-key-header.ts";
import { hintOf, normalisedPath, recordId } from "./record-id.ts";
import { readBody } from "./request-body.ts";
import type { RouteSettings } from "./route-settings.ts";

/** For APIs without callers to tell apart: every client shares one scope, and anybody who guesses a key gets its answer. */
export const ANONYMOUS_SHARED: unique symbol = Symbol("idem: all callers share one scope");

type Name = string | null | undefined;

/**
 * The caller, as a stable id; `native` is the framework's own request. A Response that it throws is the answer; for nobody (null,
 * undefined or an empty name) the request is refused with 403.
 */
export type ScopeOf = (request: Request, native: unknown) => Name | Promise<Name>;

export interface ReadWorld {
  readonly namespace: string;
  readonly principal: ScopeOf | typeof ANONYMOUS_SHARED;
  readonly tenant: ScopeOf | null;
  readonly secret: string | null;
  readonly docs: string | null;
  report(what: string, error: unknown): void;
}

export async function readRequest(
  request: Request,
  settings: RouteSettings,
  world: ReadWorld,
  native: unknown,
): Promise<ReadRequest> {
  const refuse = (kind: ProblemKind, facts: ProblemFacts = {}): ReadRequest => ({
    kind: "answer",
    response: problemResponse(kind, world.docs === null ? facts : { ...facts, docs: world.docs }),
  });
  const method = request.method.toUpperCase();
  if (!settings.methods.includes(method)) return { kind: "plain", request };
  const header = readKeyHeader(request.headers.get(settings.header), settings.keyRules);
  if (header.kind === "absent") return settings.isRequired ? refuse("key-missing") : { kind: "plain", request };
  if (header.kind === "invalid") return refuse("key-invalid", { detail: `The key cannot be used: ${header.why}.` });

  const asker = await askerOf(request, world, native);
  if (asker.kind === "answer") return asker;
  if (asker.kind === "unknown") return refuse("principal-unknown");

  const body = await readBody(request, settings);
  if (body.kind === "too-large") return refuse("body-too-large");
  if (body.kind === "broken") return refuse("body-unreadable");

  const url = new URL(request.url);
  const path = normalisedPath(url);
  const { namespace } = world;
  const { principal, tenant } = asker;
  const id = recordId({ namespace, tenant, principal, method, path, key: header.key, scope: settings.scope });
  const fingerprints = await fingerprintsOf(
    { method, path, query: url.search, headers: request.headers, body: body.compared },
    settings.fingerprint,
    world.secret,
  );
  const about = { namespace, tenant, principal: principal ?? "", method, path, hint: hintOf(id) };
  let again: Request | null = null;
  const keyed: KeyedRequest = {
    id,
    fingerprints,
    about,
    bytes: body.bytes,
    // Made for an execution. A replay does not read it, and with its stream and its signal it would be the dearest part of one.
    get request() {
      again ??= body.again();
      return again;
    },
  };
  return { kind: "keyed", keyed };
}

type Asker =
  | { readonly kind: "known"; readonly principal: string | null; readonly tenant: string | null }
  | { readonly kind: "unknown" }
  | { readonly kind: "answer"; readonly response: Response };

async function askerOf(request: Request, world: ReadWorld, native: unknown): Promise<Asker> {
  try {
    // An empty name is nobody's: taken for one, all callers that are not known would share their answers.
    const nameOf = async (scope: ScopeOf): Promise<string | null> => {
      const name: unknown = await scope(request, native);
      return typeof name === "string" && name !== "" ? name : null;
    };
    const isShared = world.principal === ANONYMOUS_SHARED;
    const principal = world.principal === ANONYMOUS_SHARED ? null : await nameOf(world.principal);
    const tenant = world.tenant === null ? null : await nameOf(world.tenant);
    if ((principal === null && !isShared) || (tenant === null && world.tenant !== null)) return { kind: "unknown" };
    return { kind: "known", principal, tenant };
  } catch (error) {
    if (error instanceof Response) return { kind: "answer", response: error };
    world.report("principal or tenant threw, so the request is refused", error);
    return { kind: "unknown" };
  }
}
