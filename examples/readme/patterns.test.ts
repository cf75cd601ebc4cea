// Every code block of a page about a pattern is a region of the file that compiles it, to the letter and in order. A file says whose it is
// in its first line: // docs/outbox.md
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const read = (path: string): string => readFileSync(fileURLToPath(new URL(path, import.meta.url)), "utf8");
const compiled = readdirSync(fileURLToPath(new URL(".", import.meta.url)), { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"))
  .map((name) => ({ text: read(`./${name}`), page: /^\/\/ (docs\/[\w/-]+\.md)\n/.exec(read(`./${name}`))?.[1] }))
  .filter(({ page }) => page !== undefined);

test.each(compiled)("$page shows code that is compiled", ({ text, page }) => {
  const blocks = [...read(`../../${page}`).matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code]) => code!.trim());
  const regions = [...text.matchAll(/\/\/ #region .*\n([\s\S]*?)\/\/ #endregion/g)].map(([, code]) => code!.trim());
  expect(blocks.length).toBeGreaterThan(0);
  expect(blocks).toEqual(regions);
});
