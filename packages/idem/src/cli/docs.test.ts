import { describe, expect, test } from "vitest";
import { fakeTerminal } from "./fake-terminal.ts";

const terminal = fakeTerminal({ cwd: "/" });
const print = async (...args: string[]): Promise<string> => {
  expect(await terminal.run("docs", ...args)).toBe(0);
  return terminal.written.out;
};

describe("idem docs", () => {
  test("lists every page with its title", async () => {
    const list = await print();
    expect(list).toMatch(/^functions +Functions$/m);
    expect(list).toMatch(/^quickstarts\/nextjs +Quick-start: Next\.js$/m);
    expect((await terminal.json("docs")).pages).toContainEqual({ page: "functions", title: "Functions" });
  });

  test("prints a page by its name, by the last part of it, or as a link writes it", async () => {
    const page = await print("quickstarts/nextjs");
    expect(page).toMatch(/^# Quick-start: Next\.js\n/);
    expect(await print("nextjs")).toBe(page);
    expect(await print("docs/quickstarts/nextjs.md")).toBe(page);
  });

  test("prints one part of a page, to the next heading of its rank", async () => {
    const part = await print("errors#store_owned");
    expect(part).toMatch(/^## `STORE_OWNED`\n/);
    expect(part.match(/^## /gm)).toHaveLength(1);
    expect(await print("functions#the-client")).toContain("### Middleware");
  });

  test.each([
    ["functoins", 'There is no page "functoins". Did you mean "functions"?'],
    ["nxetjs", 'Did you mean "nextjs"?'],
    ["errors#store_owner", 'The page "errors" has no heading "store_owner". Did you mean "errors#store_owned"?'],
  ])("what is not there, %s, is refused with the nearest that is", async (asked, words) => {
    expect(await terminal.run("docs", asked)).toBe(1);
    expect(terminal.written.out).toBe("");
    expect(terminal.written.err).toContain(words);
  });
});
