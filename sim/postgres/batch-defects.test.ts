import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { planted } from "../defect.ts";
import { builtEngine } from "../engine.ts";
import { batchDefects } from "./batch-defects.ts";

test.each(batchDefects)("the planted defect of a batch finds the code it changes: $name", ({ name, patches }) => {
  for (const patch of patches) {
    expect(planted(name, patch, readFileSync(join(builtEngine, patch.file), "utf8"))).toContain(patch.to);
  }
});
