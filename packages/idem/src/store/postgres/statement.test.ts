import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Statements } from "./statement.ts";

const here = import.meta.dirname;

test("where rows have no place, every statement that finds them by it finds them by their keys", () => {
  const files = readdirSync(here).filter((name) => name.endsWith(".ts") && !/\.(test|suite)\.ts$/.test(name));
  const texts = files.flatMap((name) =>
    [...readFileSync(join(here, name), "utf8").matchAll(/delete from \w+ where ctid = any\([^;`]+/g)].map(
      ([sql]) => sql,
    ),
  );
  expect(texts).toHaveLength(6);
  const plain = new Statements("idem", true);
  for (const sql of texts) {
    const { text } = plain.of(sql);
    expect(text).toMatch(/^delete from "idem"\.(\w+) where \(([\w, ]+)\) in \(select \2 from "idem"\.\1 .*\)\s*$/s);
  }
});
