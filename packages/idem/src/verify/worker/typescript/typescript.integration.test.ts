// TypeScript, on small projects as they are found in the wild (fixtures/loading).
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { loadProject as load, projects } from "../load-project.suite.ts";
import { readLooseJson } from "./tsconfig.ts";

describe("TypeScript is loaded without set-up", () => {
  test("a project of ES modules: .js for .ts, no ending, an index, paths, imports, enums, JSX, JSON", async () => {
    const { answers, stack } = await load("esm/src/main.ts");
    expect(stack).toBeUndefined();
    expect(answers?.[0]?.told).toEqual({
      green: 7,
      named: "big",
      folder: "an index",
      bare: "no ending",
      special: "the most exact pattern",
      aliased: "by a pattern",
      config: "by a name",
      hash: "by imports of package.json",
      view: ["fragment", ["b", "x"]],
      data: 1,
      first: 1,
      told: 2,
      late: "imported later",
      fromScript: "a script's .js that is .ts",
      counted: 1,
    });
  });

  test("a project of CommonJS: require of typed files, circles, export =, decorators with the types they note", async () => {
    const { answers, stack } = await load("cjs/src/main.ts");
    expect(stack).toBeUndefined();
    expect(answers?.[0]?.told).toEqual({
      types: ["Service", "String"],
      fields: ["service", "token"],
      whole: "export =",
      plain: "plain, and required",
      base: "main.ts",
      inBase: "from baseUrl",
      counted: 1,
      drawn: ["i", "x"],
      star: "export *",
      other: "required",
      mixed: "mixed with required",
    });
    // An ES module beside it sees the names of CommonJS files, and the same instances.
    expect(answers?.[0]?.named).toEqual({ star: "export *", counted: 2 });
  });

  test("decorators of the language itself", async () => {
    const { answers } = await load("decorators/main.ts");
    expect(answers?.[0]?.told).toEqual({ greeting: "hello x", heard: ["greet"], name: "Greeter" });
  });

  test("a tsconfig.json that only names others: the one that includes the file counts", async () => {
    const { answers } = await load("solution/src/main.ts");
    expect(answers?.[0]?.told).toEqual({ of: "the app's" });
  });

  test.each(["esm/src/main.ts", "cjs/src/main.ts"])("each life of %s has modules of its own", async (entry) => {
    const { answers } = await load(entry, 3);
    expect(answers?.map(({ told }) => (told as { counted: number }).counted)).toEqual([1, 1, 1]);
    expect(answers?.map(({ told }) => told)).toEqual(Array(3).fill(answers?.[0]?.told));
  });
});

describe("what cannot be loaded is named", () => {
  test.each(["faulty/throws.ts", "faulty/throws.cts"])(
    "%s: the stack of an error has the user's own lines",
    async (entry) => {
      const { message, stack } = await load(entry);
      expect(message).toBe("no key was given");
      const places = [...stack!.matchAll(/\/(\w+\.c?ts)(?:\?[^:]*)?:(\d+):\d+/g)].map(
        ([, file, line]) => `${file}:${line}`,
      );
      expect(places.slice(0, 2)).toEqual(["deep.ts:5", entry.endsWith(".cts") ? "throws.cts:7" : "throws.ts:8"]);
    },
  );

  test("a file that is no TypeScript, by its name and the place in it", async () => {
    const { message } = await load("faulty/syntax.ts");
    expect(message).toContain(join(projects, "faulty/syntax.ts"));
    expect(message).toMatch(/1:|:1/);
  });

  test("an import that leads nowhere, by both ends", async () => {
    const { message } = await load("faulty/absent.ts");
    expect(message).toContain("nothing-here.js");
    expect(message).toContain("absent.ts");
  });
});

test("tsconfig.json may have comments and commas too many, and strings that look like either", () => {
  const text = `\uFEFF{ // one
    "a": ["//", "/* */", ",]",], /* two */
    "b": "\\",}", // three
  }`;
  expect(readLooseJson(text)).toEqual({ a: ["//", "/* */", ",]"], b: '",}' });
});

test("the tsconfig.json that tsc --init writes, of which most lines are comments, is read at once", () => {
  const commented = Array.from(
    { length: 90 },
    (_, i) => `    // "option${i}": true,                    /* What it does. */`,
  );
  const text = `{\n  "compilerOptions": {\n    "target": "es2016",      /* Set it. */\n${commented.join("\n")}\n    "strict": true,\n  }\n}`;
  expect(readLooseJson(text)).toEqual({ compilerOptions: { target: "es2016", strict: true } });
});
