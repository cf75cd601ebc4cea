// Facts about the dashboard's sources that a reviewer would otherwise check again by hand. Each failure says what to do.
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { expect, test } from "vitest";

const src = join(import.meta.dirname, "..", "src");
const sources = readdirSync(src, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && /\.(tsx?|css)$/.test(entry.name) && !/\.(test|suite)\.tsx?$/.test(entry.name))
  .map((entry) => join(entry.parentPath, entry.name))
  .map((path) => ({ path: relative(src, path), text: readFileSync(path, "utf8") }));

test("nothing turns text into markup or code: payloads are strangers' words", () => {
  const risky =
    /dangerouslySetInnerHTML|\.(inner|outer)HTML\b|insertAdjacentHTML|document\.write|\beval\(|new Function\(|srcDoc|javascript:/;
  expect(sources.filter(({ text }) => risky.test(text)).map(({ path }) => path)).toEqual([]);
});

test("colours come from the tokens: they were measured there, in both themes", () => {
  const colour = /#[0-9a-f]{3,8}\b|\b(rgb|hsl|oklch)a?\(/i;
  // What a mask lets through has no colour.
  const drawn = (text: string) => text.replace(/^\s*mask:.*$/gm, "");
  const styles = sources.filter(({ path }) => path.endsWith(".css") && path !== join("styles", "tokens.css"));
  expect(styles.filter(({ text }) => colour.test(drawn(text))).map(({ path }) => path)).toEqual([]);
});

test("a screen may be held either way: no style depends on it", () => {
  const styles = sources.filter(({ path }) => path.endsWith(".css"));
  expect(styles.filter(({ text }) => /\borientation\s*:/.test(text)).map(({ path }) => path)).toEqual([]);
});

test("nothing is fetched from elsewhere", () => {
  const elsewhere = /(?:src|href|url|fetch|import)\s*(?:=|\()\s*["'{`]*https?:/;
  expect(sources.filter(({ text }) => elsewhere.test(text)).map(({ path }) => path)).toEqual([]);
});

test("a file holds one idea: none is over 300 lines", () => {
  expect(sources.filter(({ text }) => text.split("\n").length > 300).map(({ path }) => path)).toEqual([]);
});

test("every address has its page's file, and the server answers every one with the page", () => {
  const pages = readFileSync(join(src, "pages.ts"), "utf8");
  const listed = [...pages.matchAll(/^ {2}"(\/[^"]*)": "([^"]+)",$/gm)].map(([, address, file]) => ({
    address: address!,
    file: file!,
  }));
  expect(listed.length).toBeGreaterThan(20);
  const missing = listed.filter(({ file }) => !sources.some(({ path }) => path === join("pages", `${file}.tsx`)));
  expect(missing).toEqual([]);
  const server = readFileSync(
    join(src, "..", "..", "idem", "src", "server", "dashboard", "serve-dashboard.ts"),
    "utf8",
  );
  const served = [...server.matchAll(/^ {2}"(\/[^"]*)",$/gm)].map(
    ([, address]) => new RegExp(`^${address!.replace(/:\w+/g, "[^/]+")}$`),
  );
  expect(
    listed.filter(({ address }) => !served.some((each) => each.test(address))).map(({ address }) => address),
  ).toEqual([]);
});
