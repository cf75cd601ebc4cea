// One request to an app and its answer: what cannot be reached, is too large, or was signed by nobody we know, is said so.
import { AppUnreachableError, type RemoteReply } from "../execute/remote.ts";
import { errors } from "../model/errors.ts";
import { BodyTooLargeError, type HttpCalls } from "../platform/node-http.ts";
import type { HttpRequest, Platform } from "../platform/platform.ts";
import { isSdk, isThrownAround, unwrapStreamed } from "../protocol/call-reply.ts";
import { signatureHeader, verifySignature } from "../protocol/request-signature.ts";
import type { Credentials } from "./credentials.ts";

export interface ExchangeOptions {
  readonly http: HttpCalls;
  readonly platform: Pick<Platform, "wallMs">;
  readonly credentials: Credentials;
}

/** `shown` names the app in messages; `isSigned` says that its answer must be signed too. */
export async function exchange(
  env: string,
  request: HttpRequest,
  shown: string,
  isSigned: boolean,
  { http, platform, credentials }: ExchangeOptions,
): Promise<RemoteReply> {
  const raw = await http.call(request).catch((error) => {
    if (error instanceof BodyTooLargeError) throw errors.REPLY_TOO_LARGE({ max: request.bodyBytesMax });
    throw new AppUnreachableError(`${shown} could not be reached: ${reasonOf(error)}`);
  });
  // A 401 comes from an app that does not accept our signature; it has none of its own. An answer that is no SDK's is never believed.
  if (!isSigned || raw.status === 401 || !isSdk(raw.headers)) return raw;
  const answer = unwrapStreamed(raw);
  const keys = credentials.signingKeysOf(env);
  const verified = verifySignature(answer.headers[signatureHeader], answer.body, keys, platform.wallMs());
  if (verified.kind === "refused" && !isThrownAround(answer)) {
    throw new AppUnreachableError(`The answer of ${shown} cannot be trusted: ${verified.why}`);
  }
  return answer;
}

/** A refused connection to a name with two addresses says nothing but its code. */
const reasonOf = (error: NodeJS.ErrnoException): string => error.message || error.code || "the connection failed";
