// Every code block of a page about a pattern is a region of a file that compiles it, to the letter and, within a file, in order. A file says
// whose it is in its first line: // docs/outbox.md
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const read = (path: string): string => readFileSync(fileURLToPath(new URL(path, import.meta.url)), "utf8");
const compiled = readdirSync(fileURLToPath(new URL(".", import.meta.url)), { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".ts"))
  .map((name) => ({ text: read(`./${name}`), page: /^\/\/ (docs\/[\w/-]+\.md)\n/.exec(read(`./${name}`))?.[1] }));
const pages = [...new Set(compiled.flatMap(({ page }) => page ?? []))];

test.each(pages)("%s shows code that is compiled", (page) => {
  const blocks = [...read(`../../${page}`).matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code]) => code!.trim());
  const files = compiled.filter((file) => file.page === page);
  const regions = files.map(({ text }) =>
    [...text.matchAll(/\/\/ #region .*\n([\s\S]*?)\/\/ #endregion/g)].map(([, code]) => code!.trim()),
  );
  expect(blocks.length).toBeGreaterThan(0);
  expect(blocks.toSorted()).toEqual(regions.flat().toSorted());
  for (const ofFile of regions) expect(blocks.filter((block) => ofFile.includes(block))).toEqual(ofFile);
});
