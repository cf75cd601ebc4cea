import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const src = join(dirname(fileURLToPath(import.meta.url)), "..");

/** Packages that are loaded together with a file, through everything it imports. */
function packagesOf(file: string, seen = new Set<string>()): Set<string> {
  const found = new Set<string>();
  if (seen.has(file)) return found;
  seen.add(file);
  const text = readFileSync(file, "utf8");
  for (const [, types, target] of text.matchAll(/^(?:import|export) (type )?[^;]*? from "([^"]+)";/gm)) {
    if (types !== undefined) continue;
    if (!target!.startsWith(".")) found.add(target!);
    else for (const each of packagesOf(join(dirname(file), target!), seen)) found.add(each);
  }
  return found;
}

test.each(["serve", "node", "express", "fastify", "hono", "next", "nestjs", "sveltekit", "lambda", "bun"])(
  "a served app loads no database and no web framework with idem/%s",
  (entry) => {
    const files = ["index.ts", `${entry}.ts`].map((name) => join(src, name));
    const loaded = new Set(files.flatMap((file) => [...packagesOf(file)]).filter((name) => !name.startsWith("node:")));
    expect([...loaded].sort()).toEqual(["@marcbachmann/cel-js", "re2js"]);
  },
);
