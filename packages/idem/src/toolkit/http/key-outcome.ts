// From a captured response to what is recorded of it, and back. Nothing here fails: what cannot be kept becomes a tombstone, because the
// effect has happened and a retry must not make it happen again.
import { createHash, timingSafeEqual } from "node:crypto";
import type { KeyOutcome, StoredResponse } from "../keys/key-store.ts";
import type { Captured } from "./begin.ts";
import { decodeContent } from "./content-coding.ts";
import { type ProblemFacts, problemResponse } from "./problems.ts";
import { isBodiless, type ReplayFacts, replayResponse } from "./replay.ts";
import { headersToKeep } from "./replay-headers.ts";
import type { RouteSettings } from "./route-settings.ts";

/** Encrypts what is kept of responses, with whatever the author trusts. */
export interface BodySeal {
  seal(bytes: Uint8Array): Uint8Array | Promise<Uint8Array>;
  open(bytes: Uint8Array): Uint8Array | Promise<Uint8Array>;
}

export interface OutcomeWorld {
  readonly settings: RouteSettings;
  readonly docs: string | null;
  /** The first digits of the record's id. */
  readonly hint: string;
  readonly seal: BodySeal | null;
  /** An author's `put`, `get`, `reference` or `rebuild` failed. */
  report(what: string, error: unknown): void;
}

// A reference says who made it: a route may change its options while records are kept.
const externalPrefix = "external:";
const rebuildPrefix = "rebuild:";
/** On the record only: a body from before there was a seal is returned as it is. */
const sealedMark = "idem-sealed";

export async function outcomeOf(id: string, captured: Captured, world: OutcomeWorld): Promise<KeyOutcome> {
  const { status } = captured;
  const { settings } = world;
  const gone = (reason: string): KeyOutcome => ({ kind: "gone", status, reason });
  if (captured.body.kind === "overflow") return gone("too large to be kept");
  if (captured.body.kind === "aborted") return gone("its stream broke off");
  const coding = captured.headers.find(([name]) => name.toLowerCase() === "content-encoding")?.[1] ?? null;
  const encoded = isBodiless(status) ? null : captured.body.bytes;
  const bytes = encoded === null ? null : await decodeContent(encoded, coding, settings.captureBytesMax);
  if (bytes === null && encoded !== null) return gone("in a content-coding that cannot be undone");
  const headers = headersToKeep(captured.headers, settings.replayHeaders);
  try {
    // An error has nothing to hide, and a reference to something that was not made cannot be followed.
    if (settings.rebuild !== null && status < 400) {
      const reference = settings.rebuild.reference({ status, bytes });
      return { kind: "reference", status, headers, reference: `${rebuildPrefix}${reference}` };
    }
    if (bytes === null || bytes.byteLength <= settings.responseBytesMax) {
      return { kind: "response", ...(await sealed({ status, headers, body: bytes }, world.seal)) };
    }
    if (settings.external === null) return gone("too large to be kept");
    const reference = await settings.external.put(id, bytes);
    return { kind: "reference", status, headers, reference: `${externalPrefix}${sha256(bytes)}:${reference}` };
  } catch (error) {
    world.report("its response could not be put away", error);
    return gone("it could not be put away");
  }
}

export async function responseOf(outcome: KeyOutcome, facts: ReplayFacts, world: OutcomeWorld): Promise<Response> {
  switch (outcome.kind) {
    case "response":
      try {
        return replayResponse(await opened(outcome, world.seal), facts);
      } catch (error) {
        world.report("its response could not be opened", error);
        return problemResponse("store-unavailable", withDocs(world));
      }
    case "reference": {
      const { status, headers, reference } = outcome;
      try {
        const body = await bodyOf(reference, world.settings);
        if (body !== "gone") return replayResponse({ status, headers, body }, facts);
      } catch (error) {
        // Where it is kept may be away for a moment; nothing is executed meanwhile.
        world.report("its response could not be fetched again", error);
        return problemResponse("store-unavailable", withDocs(world));
      }
      return goneResponse(status, facts, world);
    }
    case "gone":
      return goneResponse(outcome.status, facts, world);
  }
}

function goneResponse(status: number, { completedAt }: ReplayFacts, world: OutcomeWorld): Response {
  const extra = { original_status: status, completed_at: new Date(completedAt).toISOString() };
  return problemResponse("response-gone", { ...withDocs(world), extra });
}

async function bodyOf(reference: string, settings: RouteSettings): Promise<Uint8Array | null | "gone"> {
  if (reference.startsWith(rebuildPrefix)) {
    if (settings.rebuild === null) return "gone";
    const body = await settings.rebuild.rebuild(reference.slice(rebuildPrefix.length));
    return typeof body === "string" ? new TextEncoder().encode(body) : body;
  }
  if (!reference.startsWith(externalPrefix) || settings.external === null) return "gone";
  const rest = reference.slice(externalPrefix.length);
  const digest = rest.slice(0, 64);
  const body = await settings.external.get(rest.slice(65));
  // Bytes that are not the ones put there are not this request's answer.
  return body === null || !isSame(sha256(body), digest) ? "gone" : body;
}

export async function sealed(response: StoredResponse, seal: BodySeal | null): Promise<StoredResponse> {
  const { status, headers, body } = response;
  if (seal === null || body === null) return response;
  return { status, headers: [...headers, [sealedMark, "1"]], body: await seal.seal(body) };
}

async function opened(response: StoredResponse, seal: BodySeal | null): Promise<StoredResponse> {
  const { status, headers, body } = response;
  if (body === null || !headers.some(([name]) => name === sealedMark)) return response;
  if (seal === null) throw new Error("it is sealed, and there is no seal to open it with");
  return { status, headers, body: await seal.open(body) };
}

const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

const isSame = (a: string, b: string): boolean =>
  a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));

const withDocs = ({ docs, hint }: OutcomeWorld): ProblemFacts => ({ hint, ...(docs === null ? {} : { docs }) });
