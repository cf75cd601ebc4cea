// The dashboard's addresses. A page is the same empty shell everywhere and needs no credential: what it shows it asks of /api, which
// does. The browser's own router finds the page; addresses that are not listed are nobody's: a person reads so on the page, a program as a
// problem in JSON.
import { errors, type IdemError } from "../../model/errors.ts";
import { pageHeaders } from "../people/safe-headers.ts";
import type { Route, RouteAnswer, RouteRequest } from "../route.ts";
import { assetOf, type DashboardFile, pageAt } from "./dashboard-files.ts";

/** As in packages/dashboard/src/pages.ts. */
const addresses = [
  "/",
  "/runs",
  "/runs/:run",
  "/runs/:run/compare/:other",
  "/events",
  "/events/:event",
  "/keys",
  "/keys/:claim",
  "/functions",
  "/functions/:fn",
  "/functions/:fn/line",
  "/workers",
  "/apps",
  "/webhooks",
  "/webhooks/:source",
  "/radar",
  "/radar/alerts/:alert",
  "/radar/suggestions/:fn",
  "/radar/rules",
  "/radar/history",
  "/explain",
  "/audit",
  "/settings",
  "/login",
] as const;

// A year, the longest caches keep anything.
const forEver = "public, max-age=31536000, immutable";

type Asking = Pick<RouteRequest, "headers">;

function answerFile(
  { headers }: Asking,
  file: DashboardFile,
  cache: string,
  extra: Readonly<Record<string, string>>,
): RouteAnswer {
  const about = { ...extra, etag: file.etag, "cache-control": cache, vary: "accept-encoding" };
  if (headers["if-none-match"] === file.etag) return { status: 304, headers: about, body: null };
  const isGzipped = file.gzipped !== null && /\bgzip\b/.test(headers["accept-encoding"] ?? "");
  return {
    status: 200,
    headers: { ...about, "content-type": file.type, ...(isGzipped ? { "content-encoding": "gzip" } : {}) },
    body: isGzipped ? file.gzipped : file.bytes,
  };
}

const notBuilt = "The dashboard is not part of this build. In a checkout, npm run build makes it.\n";

/** The page under a mount path; `/` for a server of its own. */
function answerPage(request: Asking, base: string): RouteAnswer {
  const page = pageAt(base);
  if (page === null) return { status: 404, headers: { "content-type": "text/plain; charset=utf-8" }, body: notBuilt };
  return answerFile(request, page, "no-cache", pageHeaders);
}

// Addresses for programs: they are answered with problems, also in a browser.
const forPrograms = /^\/(api|v1|assets|e|w|docs)(\/|$)/;

/** For a person who opened an address that leads nowhere: the page, which says so. Null for everybody else. */
export function unknownPage(
  asked: { readonly method: string; readonly path: string; readonly accept: string | undefined },
  error: IdemError,
  base = "/",
): RouteAnswer | null {
  const isPerson = /^(GET|HEAD)$/.test(asked.method) && asked.accept?.includes("text/html") === true;
  if (error.code !== "ROUTE_UNKNOWN" || !isPerson || forPrograms.test(asked.path)) return null;
  const page = answerPage({ headers: {} }, base);
  return { ...page, status: 404 };
}

/** Null when there is no such file. */
function answerAsset(request: Asking, name: string): RouteAnswer | null {
  const file = assetOf(name);
  return file === null ? null : answerFile(request, file, forEver, {});
}

const shell = { method: "GET", access: "open", bodyBytesMax: null, errors: "problem" } as const;

/** For a mount path that begins and ends with a slash; what is asked comes without it. */
export const dashboardRoutesAt = (base: string): readonly Route[] => [
  ...addresses.map((path): Route => ({ ...shell, path, handle: (request) => answerPage(request, base) })),
  {
    ...shell,
    path: "/assets/:file",
    handle: (request) => {
      const answer = answerAsset(request, request.params.file!);
      if (answer === null) throw errors.ROUTE_UNKNOWN({ method: request.method, path: request.path.slice(0, 200) });
      return answer;
    },
  },
];

export const dashboardRoutes = dashboardRoutesAt("/");
