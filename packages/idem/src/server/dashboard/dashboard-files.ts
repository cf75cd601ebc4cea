// The dashboard's files, as they were built into dist/dashboard: read once, at the first request for one. Assets carry a hash of what
// is in them in their names, so a browser may keep them for ever; the page itself is asked for again each time.
import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { readBuiltFolder } from "../../platform/package-files.ts";

export interface DashboardFile {
  readonly bytes: Buffer;
  readonly type: string;
  readonly etag: string;
  /** Null where it would save nothing. */
  readonly gzipped: Buffer | null;
}

const types: Readonly<Record<string, string>> = {
  css: "text/css; charset=utf-8",
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  svg: "image/svg+xml",
  png: "image/png",
  woff2: "font/woff2",
};

function fileOf(name: string, bytes: Buffer): DashboardFile {
  const type = types[name.slice(name.lastIndexOf(".") + 1)] ?? "application/octet-stream";
  const etag = `"${createHash("sha256").update(bytes).digest("base64url").slice(0, 22)}"`;
  // Text shrinks to a third; below a packet there is nothing to gain.
  const gzipped = /text|svg/.test(type) && bytes.length > 1_400 ? gzipSync(bytes) : null;
  return { bytes, type, etag, gzipped };
}

let assets: ReadonlyMap<string, DashboardFile> | null = null;

/** Null for a name that was not built. */
export function assetOf(name: string): DashboardFile | null {
  if (assets === null) {
    const built = readBuiltFolder("dashboard/assets");
    if (built === null) return null;
    assets = new Map([...built].map(([each, bytes]) => [each, fileOf(each, bytes)]));
  }
  return assets.get(name) ?? null;
}

const pages = new Map<string, DashboardFile>();

/**
 * The page for a mount path that begins and ends with a slash. The path is written into the page: its scripts are found under it, and
 * so is the API. Null when the dashboard was not built.
 */
export function pageAt(base: string): DashboardFile | null {
  const known = pages.get(base);
  if (known !== undefined) return known;
  const html = readBuiltFolder("dashboard")?.get("index.html")?.toString("utf8");
  if (html === undefined) return null;
  const path = base.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
  const written = html
    .replaceAll('"./assets/', `"${path}assets/`)
    .replace(/(<meta name="idem-base" content=")[^"]*/, (_, before: string) => before + path);
  const page = fileOf("index.html", Buffer.from(written));
  pages.set(base, page);
  return page;
}
