// The dashboard's pages and files, as a browser asks for them. The build is not part of this test: it looks at the answers, with
// or without files in dist.
import { expect, test } from "vitest";
import { readBuiltFolder } from "../../platform/package-files.ts";
import { testServer } from "../test-server.suite.ts";
import { pageAt } from "./dashboard-files.ts";
import { dashboardRoutes } from "./serve-dashboard.ts";

const isBuilt = readBuiltFolder("dashboard") !== null;

test.skipIf(!isBuilt)(
  "every address of the dashboard is the same shell, with a policy that lets nothing in",
  async () => {
    const { ask } = await testServer();
    const pages = dashboardRoutes.filter(({ path }) => !path.startsWith("/assets"));
    for (const { path } of pages) {
      const { status, headers, text } = await ask(path.replace(/:\w+/g, "01ABC"));
      expect([path, status, headers.get("content-type")]).toEqual([path, 200, "text/html; charset=utf-8"]);
      expect(headers.get("content-security-policy")).toBe(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; " +
          "base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
      );
      expect(headers.get("referrer-policy")).toBe("no-referrer");
      // Nothing inline, or the policy above would refuse the page's own.
      expect(text).not.toMatch(/<style|<script(?![^>]*\bsrc=)|\son\w+=/);
    }
  },
);

test.skipIf(!isBuilt)(
  "what a page names is there, may be kept for ever, and is not sent again to who has it",
  async () => {
    const { ask, origin } = await testServer();
    const { text } = await ask("/runs/01ABC");
    const files = [...text.matchAll(/"(\/assets\/[^"]+)"/g)].map(([, path]) => path!);
    expect(files.length).toBeGreaterThanOrEqual(2);
    for (const file of files) {
      const { status, headers } = await ask(file);
      expect([file, status, headers.get("cache-control")]).toEqual([file, 200, "public, max-age=31536000, immutable"]);
      const etag = headers.get("etag")!;
      expect((await ask(file, { headers: { "if-none-match": etag } })).status).toBe(304);
      const head = await fetch(`${origin}${file}`, { method: "HEAD" });
      expect([head.status, await head.text(), head.headers.get("content-type")]).toEqual([
        200,
        "",
        headers.get("content-type"),
      ]);
    }
  },
);

test("a file that was not built, a path out of the folder and an address that is no page are unknown, as problems", async () => {
  const { ask } = await testServer();
  for (const path of ["/assets/none.js", "/assets/..%2f..%2fpackage.json", "/assets/", "/runs/a/b/c", "/api/none"]) {
    const { status, headers, json } = await ask(path);
    expect([path, status]).toEqual([path, 404]);
    expect(headers.get("content-type")).toMatch(/json/);
    expect(json.code ?? json.error).toBeDefined();
  }
});

test.skipIf(!isBuilt)("a person who opens an address that leads nowhere reads so on the page", async () => {
  const { ask } = await testServer();
  const accept = "text/html,application/xhtml+xml,*/*;q=0.8";
  const { status, headers, text } = await ask("/nope", { headers: { accept } });
  expect([status, headers.get("content-type")]).toEqual([404, "text/html; charset=utf-8"]);
  expect(text).toContain('<meta name="idem-base" content="/"');
  expect(headers.get("content-security-policy")).toMatch(/script-src 'self'/);
  // Programs, and what programs ask for, go on reading problems.
  for (const [path, sent] of [
    ["/nope", "application/json"],
    ["/api/nope", accept],
    ["/assets/none.js", accept],
  ] as const) {
    const answer = await ask(path, { headers: { accept: sent } });
    expect([path, answer.status]).toEqual([path, 404]);
    expect(answer.headers.get("content-type")).toMatch(/json/);
  }
});

test.skipIf(!isBuilt)("under a mount path the page finds its files and its server there", () => {
  const html = pageAt("/tools/idem/")!.bytes.toString();
  expect(html).toContain('<meta name="idem-base" content="/tools/idem/"');
  expect(html).toContain('src="/tools/idem/assets/');
  expect(html).not.toContain('"./assets');
  expect(pageAt('/"><script>/')!.bytes.toString()).not.toContain("<script>/");
});

test.skipIf(!isBuilt)("in start mode the shell is public and holds nothing; what it would show is not", async () => {
  const { ask } = await testServer({
    mode: "start",
    signingKeys: ["4f2a9c0e7b1d8356af03c9e2517bd864"],
    eventKeys: ["9e41c7d20ab85f36"],
    password: "a rather long one",
  });
  expect((await ask("/events")).status).toBe(200);
  expect((await ask("/api/events")).status).toBe(401);
});
