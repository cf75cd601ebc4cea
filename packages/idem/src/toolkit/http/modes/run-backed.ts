// Mode C: the request is an event, and its answer is what the run it started came to. The key is the event's id, so event, claim and run are
// one commit of the engine's, and there is no table of keys: a duplicate attaches to the run, wherever that is executed, and a web process
// that dies loses nothing.

import { gathersEvents } from "../../../flow/options.ts";
import { isPendingKind } from "../../../model/decision.ts";
import { errors, IdemError } from "../../../model/errors.ts";
import { refuseUnknown } from "../../../model/known-options.ts";
import type { Idem } from "../../../sdk/client.ts";
import type { IdemFunction } from "../../../sdk/function-types.ts";
import type { PublicDecision } from "../../../sdk/public-types.ts";
import type { RunEnd } from "../../../sdk/reads-api.ts";
import type { FetchHandler } from "../../../sdk/request-address.ts";
import { isSameFingerprint } from "../../keys/decide-key.ts";
import type { Fingerprint } from "../../keys/key-store.ts";
import type { KeyedRequest, RouteOptions } from "../begin.ts";
import { problemResponse } from "../problems.ts";
import { refuseUnknownInside, routeSettings } from "../route-settings.ts";
import { type KeyReader, type ModeOptions, modeOptions, seen } from "./mode-route.ts";
import { type InputOf, readInput } from "./read-input.ts";

export interface RunBackedOptions<Input> extends Omit<ModeOptions, "required" | "replayHeaders" | "responseBytesMax"> {
  /** The function whose run answers, or its id. */
  readonly function: IdemFunction | string;
  /** From the request to what `event` is given. Default: its JSON body. */
  readonly input?: InputOf<Input>;
  /** The event that starts the run. To `data` is added `idempotency`, by which a reused key is recognised. */
  readonly event: (
    input: Input,
    request: Request,
  ) => { readonly name: string; readonly data?: Record<string, unknown> };
  /** The same end gives the same answer: it is asked for every duplicate. */
  readonly toResponse: (end: RunEnd & { readonly runId: string }) => Response | Promise<Response>;
  /** The caller waits for this long, then gets 202. Default "10s", at most 30. */
  readonly maxWait?: string | number;
  /** Where the run can be read; goes into the 202. Default: the route of `idem start`, /v1/runs/<id>. */
  readonly location?: (runId: string, request: Request) => string;
}

// Asked again sooner, it would find the run where it was.
const retryAfterSeconds = 5;

/**
 * ```ts
 * const importFile = runBacked(keyReader({ principal }), idem, {
 *   function: importFn,
 *   event: (input) => ({ name: "file/uploaded", data: input }),
 *   toResponse: (end) => (end.state === "completed" ? Response.json(end.output) : Response.json({ error: "failed" }, { status: 502 })),
 * });
 * ```
 *
 * The window begins when the event is accepted: let it be longer than the run can take.
 */
export function runBacked<Input = unknown>(
  reader: KeyReader,
  idem: Idem,
  options: RunBackedOptions<Input>,
): FetchHandler {
  const { required: _, replayHeaders: __, responseBytesMax: ___, ...known } = modeOptions;
  refuseUnknown<RunBackedOptions<unknown>>("runBacked", options, {
    ...known,
    function: true,
    input: true,
    event: true,
    toResponse: true,
    maxWait: true,
    location: true,
  });
  refuseUnknownInside(options);
  const { platform } = reader;
  const { function: given, input: inputOf = jsonOf, event: toEvent, toResponse, location = runPath, ...rest } = options;
  const fn = nameOf(given);
  const route: RouteOptions = { ...rest, required: true, onCrash: "resume" };
  const { windowMs, waitMsMax } = routeSettings(route);

  async function decided(keyed: KeyedRequest, input: Input): Promise<PublicDecision> {
    const { name, data } = toEvent(input, keyed.request.clone() as Request);
    const [written] = keyed.fingerprints;
    const event = { id: keyed.id, name, data: { ...data, idempotency: written } };
    const { decisions } = await idem.send(event, { window: windowMs });
    const decision = decisions.find(isOfFn);
    if (decision !== undefined) return decision;
    throw errors.TOOLKIT_OPTION_INVALID({
      call: "runBacked",
      option: "event",
      why: `the event "${name}" is not one that the function "${fn.id}" is triggered by`,
    });
  }

  const isOfFn = (each: PublicDecision) => each.function === fn.id || each.function === fn.slug;

  /**
   * The decision for the first one: nothing else is looked at when both events are equal and their run is known. That another field of
   * the event differs (a time, say) does not make it another request; the fingerprint does.
   */
  async function toldFirst(decision: PublicDecision, keyed: KeyedRequest): Promise<PublicDecision | "reused"> {
    const { firstEventId, differs, runId } = decision;
    if (firstEventId === null || (differs.length === 0 && runId !== null)) return decision;
    const first = await idem.events.get(firstEventId);
    const written = (first?.data as { readonly idempotency?: Fingerprint } | null | undefined)?.idempotency;
    if (first !== null && !isSameFingerprint(written, keyed.fingerprints)) return "reused";
    // It may have waited for a person, and been started since.
    return runId === null ? (first?.decisions.find(isOfFn) ?? decision) : decision;
  }

  async function waited(runId: string, request: Request): Promise<(RunEnd & { runId: string }) | null> {
    const enough = new AbortController();
    const timer = platform.timer(waitMsMax, () => enough.abort());
    const signal = AbortSignal.any([enough.signal, request.signal]);
    try {
      return { ...(await idem.runs.wait(runId, { signal })), runId };
    } catch (error) {
      // Nobody waits any more; the run goes on all the same.
      if (signal.aborted) return null;
      throw error;
    } finally {
      timer.cancel();
    }
  }

  async function answerTo(keyed: KeyedRequest, request: Request): Promise<Response> {
    const input = await readInput(inputOf, keyed.request.clone() as Request);
    if (input.kind === "refused") return input.response;
    const own = await decided(keyed, input.value as Input);
    const isFirst = own.kind !== "duplicate-event";
    const decision = isFirst ? own : await toldFirst(own, keyed);
    if (decision === "reused") return problemResponse("key-reused");
    const { runId } = decision;
    if (runId === null) return isPending(decision) ? accepted(null) : notStarted();
    const end = await waited(runId, request);
    if (end === null) return accepted({ runId, location: location(runId, request) });
    return marked(await toResponse(end), isFirst);
  }

  return async (request) => {
    const read = await reader.read(request, route);
    if (read.kind === "answer") return read.response;
    if (read.kind === "plain") return seen(problemResponse("key-missing"), request, route);
    try {
      return seen(await answerTo(read.keyed, request), request, route);
    } catch (error) {
      if (!(error instanceof IdemError) || error.retry !== "later") throw error;
      return seen(problemResponse("store-unavailable", { detail: "Ask again with the same key." }), request, route);
    }
  };
}

function nameOf(given: IdemFunction | string): { readonly id: string; readonly slug: string } {
  if (typeof given === "string") return { id: given, slug: given };
  if (gathersEvents(given.code.config)) {
    throw errors.TOOLKIT_OPTION_INVALID({
      call: "runBacked",
      option: "function",
      why: `"${given.id}" has one run for several events, and a request needs one of its own`,
    });
  }
  return given;
}

const runPath = (runId: string): string => `/v1/runs/${runId}`;

async function jsonOf(request: Request): Promise<unknown> {
  try {
    return await request.json();
  } catch {
    throw Response.json({ title: "The body is not JSON", status: 400, retryable: false }, { status: 400 });
  }
}

/** Somebody may still let it start: the function is paused, or a person decides. */
const isPending = ({ kind }: PublicDecision): boolean => isPendingKind(kind);

function accepted(run: { readonly runId: string; readonly location: string } | null): Response {
  const headers = new Headers({ "retry-after": String(retryAfterSeconds), "cache-control": "no-store" });
  if (run !== null) headers.set("location", run.location);
  const body = { state: "accepted", run: run?.runId ?? null, retry_after_ms: retryAfterSeconds * 1_000 };
  return Response.json(body, { status: 202, headers });
}

/** A filter, a limit or a run that is open had the last word, and a retry hears the same. Which one is for `idem explain`, not for the caller. */
const notStarted = (): Response =>
  problemResponse("outcome-unknown", {
    detail: "Nothing was started for this request, and a retry starts nothing either.",
    extra: { started: false },
  });

function marked(response: Response, isFirst: boolean): Response {
  // A copy: the headers of some responses cannot be changed.
  const copy = new Response(response.body, response);
  copy.headers.set("idempotency-status", isFirst ? "executed" : "replayed");
  if (!isFirst) copy.headers.set("idempotent-replayed", "true");
  return copy;
}
