// PUT: the app registers its functions, by calling the server (out-of-band) or in its answer (in-band; docs/reference/wire.md#syncs).
import { fingerprintOf } from "../execute/code-of-run.ts";
import { IdemError } from "../model/errors.ts";
import type { AppAnswer } from "../protocol/app-answer.ts";
import {
  capabilities,
  formerApps,
  type Registration,
  sdkName,
  writeRegistration,
} from "../protocol/app-registration.ts";
import type { AppRequest, AppSettings } from "./app-handler.ts";
import { inspect, sdkHeaders, version } from "./describe-app.ts";

const unnamed = 'A sync names the app\'s URL in its signed body: { "url": "…" }';

const syncKind = (kind: "in_band" | "out_of_band") => ({ "x-inngest-sync-kind": kind });

/** `body` is "" unless it can be believed. */
export async function registerOutOfBand(settings: AppSettings, request: AppRequest, body: string): Promise<AppAnswer> {
  const { served, framework } = settings;
  const deployId = new URL(request.url).searchParams.get("deployId");
  // The request's own address is in its Host header, which nothing signs: with a captured signature it would lead the server's calls elsewhere.
  const url = settings.url ?? namedUrl(body) ?? (settings.isDev ? ownUrl(request.url) : null);
  if (url === null) return told(400, unnamed, false);
  const registration = registrationOf(settings, url, deployId);
  const serverKind = request.header("x-inngest-server-kind");
  try {
    const answer = await served.server.ask({
      method: "POST",
      path: `/fn/register${deployId === null ? "" : `?deployId=${encodeURIComponent(deployId)}`}`,
      headers: {
        ...sdkHeaders(framework),
        ...(serverKind === undefined ? {} : { "x-inngest-expected-server-kind": serverKind }),
      },
      body: JSON.stringify(writeRegistration(registration)),
      what: `App "${served.id}"`,
      signal: request.signal,
    });
    return registered(answer, served.server.origin);
  } catch (error) {
    if (!(error instanceof IdemError)) throw error;
    return told(500, error.message, false);
  }
}

function registered(answer: { readonly status: number; readonly body: string }, origin: string): AppAnswer {
  let read: { error?: unknown; modified?: unknown; status?: unknown };
  try {
    read = (JSON.parse(answer.body) ?? {}) as typeof read;
  } catch {
    return told(500, `The server at ${origin} answered ${answer.status} and no JSON; is it an Idem server?`, false);
  }
  const status = typeof read.status === "number" ? read.status : answer.status;
  if (answer.status >= 200 && answer.status < 300 && status < 300) {
    return told(200, "Successfully registered", read.modified === true);
  }
  const why = typeof read.error === "string" ? read.error : `the server answered ${answer.status} without a reason`;
  return told(status >= 400 ? status : 500, why, false);
}

const told = (status: number, message: string, modified: boolean): AppAnswer => ({
  status,
  headers: syncKind("out_of_band"),
  body: JSON.stringify({ message, modified }),
});

export function registerInBand(settings: AppSettings, body: string): AppAnswer {
  const { served, framework } = settings;
  const url = settings.url ?? namedUrl(body);
  if (url === null) {
    const body = JSON.stringify({ code: "invalid_request", message: unnamed });
    return { status: 400, headers: syncKind("in_band"), body };
  }
  const { functions } = writeRegistration(registrationOf(settings, url, null)) as { functions: object[] };
  return {
    status: 200,
    headers: syncKind("in_band"),
    body: JSON.stringify({
      app_id: served.id,
      ...formerApps(served.was),
      capabilities,
      env: served.server.options.env,
      framework,
      functions,
      inspection: inspect(settings),
      sdk_author: "idem",
      sdk_language: "js",
      sdk_version: version,
      sdk: sdkName(version),
      url,
    }),
  };
}

const registrationOf = ({ served, framework }: AppSettings, url: string, deployId: string | null): Registration => ({
  app: served.id,
  was: served.was,
  url,
  framework,
  sdkVersion: version,
  deployId,
  functions: served.codes().map((code) => ({ ...code, fingerprint: fingerprintOf(code) })),
});

/** The address of this very request, without what belongs to one call or one sync. */
function ownUrl(href: string): string {
  const url = new URL(href);
  for (const name of ["fnId", "stepId", "deployId"]) url.searchParams.delete(name);
  return url.href;
}

function namedUrl(body: string): string | null {
  try {
    const { url } = JSON.parse(body) as { url?: unknown };
    return typeof url === "string" && /^https?:/.test(url) && URL.canParse(url) ? ownUrl(url) : null;
  } catch {
    return null;
  }
}
