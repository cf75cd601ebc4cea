// Asking an app for its functions: a PUT to its serve URL (docs/reference/wire.md#syncs). It is always asked to answer with
// them (in band): that takes one request, needs no way from the app to this server, and changes nothing in the app. An app
// configured otherwise sends them to POST /fn/register instead (out of band) and says so in its answer.
import { IdemError } from "../model/errors.ts";
import { canonicalJson, isJsonObject } from "../model/json.ts";
import { type RegisterRequest, readInBandReply } from "./register-request.ts";

const syncKindHeader = "x-inngest-sync-kind";
export const sdkHeader = "x-inngest-sdk";
/** Stays when an app refuses a request's signature and hides everything else about itself. */
const handledHeader = "x-inngest-sdk-handled";

export interface SyncReply {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export type SyncAnswer =
  | { readonly kind: "functions"; readonly registration: RegisterRequest }
  /** The app has sent its functions to the server it knows. */
  | { readonly kind: "told-elsewhere"; readonly modified: boolean }
  | { readonly kind: "refused"; readonly why: string };

export const syncHeaders = (serverKind: string): Record<string, string> => ({
  "content-type": "application/json",
  "x-inngest-server-kind": serverKind,
  [syncKindHeader]: "in_band",
});

/** In canonical form, to be signed. */
export const syncBody = (url: string): string => canonicalJson({ url });

/** Whether somebody's answer, of whatever status, comes from an SDK. */
export const isFromSdk = (headers: SyncReply["headers"]): boolean =>
  headers[sdkHeader] !== undefined || headers[handledHeader] !== undefined;

export function readSyncReply(reply: SyncReply, serverKind: string): SyncAnswer {
  const { status, headers } = reply;
  if (!isFromSdk(headers)) {
    return refused(`something answered with status ${status}, but not an SDK; check the path, often /api/inngest`);
  }
  if (status === 401 || status === 403) {
    return refused(
      serverKind === "dev"
        ? "the app runs in cloud mode and asks for a signature; set INNGEST_DEV=1 in its environment"
        : "the app did not accept this server's signature; both need the same INNGEST_SIGNING_KEY and the right time",
    );
  }
  const body = parse(reply.body);
  if (status === 200 && headers[syncKindHeader] === "in_band") return readFunctions(body);
  const fields = isJsonObject(body) ? body : {};
  // SDKs before 3.23 know no other way and do not name it.
  const isOutOfBand = headers[syncKindHeader] === "out_of_band";
  const isUnnamed = headers[syncKindHeader] === undefined && typeof fields.modified === "boolean";
  if (status === 200 && (isOutOfBand || isUnnamed)) {
    return { kind: "told-elsewhere", modified: fields.modified === true };
  }
  // All an app in cloud mode without a signing key ever says (docs/reference/wire.md#modes); the SDK is in cloud mode unless told otherwise.
  if (status === 500 && fields.code === "internal_server_error") {
    return refused(
      `the app runs in cloud mode without a signing key; set ${serverKind === "dev" ? "INNGEST_DEV=1" : "INNGEST_SIGNING_KEY"} in its environment`,
    );
  }
  const said = [fields.message, fields.error, fields.code].find((each) => typeof each === "string" && each !== "");
  return refused(
    `the app answered with status ${status}${said === undefined ? "" : `: ${String(said).slice(0, 500)}`}`,
  );
}

function readFunctions(body: unknown): SyncAnswer {
  try {
    return { kind: "functions", registration: readInBandReply(body) };
  } catch (error) {
    // It has its own remedy.
    if (error instanceof IdemError && error.code !== "SDK_VERSION_UNSUPPORTED") return refused(error.message);
    throw error;
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const refused = (why: string): SyncAnswer => ({ kind: "refused", why });
