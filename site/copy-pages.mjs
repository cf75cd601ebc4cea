// Copies docs to where the site is built from, without the remarks that only those who write them need.
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const site = dirname(fileURLToPath(import.meta.url));
const pages = join(site, "pages");
rmSync(pages, { recursive: true, force: true });
cpSync(join(site, "..", "docs"), pages, { recursive: true });
for (const name of readdirSync(pages, { recursive: true, encoding: "utf8" })) {
  if (!name.endsWith(".md")) continue;
  const text = readFileSync(join(pages, name), "utf8");
  writeFileSync(join(pages, name), text.replace(/^<!--[\s\S]*?-->\n/gm, ""));
}
