// Packages that are watched where they are called (watch-packages.ts), as ES modules: in a thread the loading hooks tell that one is loaded; an app's process has no
// hooks of ours, so they are loaded before the app asks for them. Where they cannot be found from the app's folder, findings have no line, and a database of
// `postgres` is a socket that is refused.
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { packagesMark } from "../worker/watch-packages.ts";

/** Each with the file whose methods are watched. */
const files: Readonly<Record<string, string>> = {
  postgres: "src/query.js",
  nodemailer: "dist/esm/mailer/index.js",
  stripe: "esm/StripeResource.js",
};

export async function loadEsPackages(): Promise<void> {
  const take = Reflect.get(globalThis, Symbol.for(packagesMark)) as (file: string, exported: object) => void;
  const { resolve } = createRequire(join(process.cwd(), "package.json"));
  for (const [name, path] of Object.entries(files)) {
    try {
      const file = fileUnder(resolve(name), name, path);
      if (file !== null) take(file, (await import(pathToFileURL(file).href)) as object);
    } catch {
      // The project has none, or another version of it.
    }
  }
}

function fileUnder(entry: string, name: string, path: string): string | null {
  for (let at = dirname(entry); at !== dirname(at); at = dirname(at)) {
    const file = join(at, path);
    if (at.endsWith(name) && existsSync(file)) return file;
  }
  return null;
}
