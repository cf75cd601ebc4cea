// The pages of docs as a site, built from a copy (site/pages): Vue is found only from within this folder. What stands in the bar at its side
// is the list of docs/overview.md: no page is named twice.
import { readdirSync, readFileSync } from "node:fs";
import { defineConfig } from "vitepress";

const docs = new URL("../../docs/", import.meta.url);
const read = (path) => readFileSync(new URL(path, docs), "utf8");
const titleOf = (path) => /^# (.*)$/m.exec(read(path))[1].replaceAll("`", "");
const itemOf = (path) => ({ text: titleOf(path), link: `/${path.replace(/\.md$/, "")}` });

const [, list] = read("overview.md").split("\n## Every page\n");
const groups = [...list.matchAll(/^\| ([^|]+) \| \|\n\| --- \| --- \|\n((?:\|.*\n?)+)/gm)].map(([, text, rows]) => ({
  text: text[0].toUpperCase() + text.slice(1),
  items: [...rows.matchAll(/\]\(([^)]+\.md)\)/g)].map(([, path]) => itemOf(path)),
}));
const decisions = readdirSync(new URL("decisions/", docs)).sort();

/** As GitHub makes them, and links between the pages write them. */
const anchorOf = (words) =>
  words
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");

export default defineConfig({
  title: "Idem",
  description: "Run it twice, it happens once: durable functions for TypeScript",
  srcDir: "pages",
  outDir: "dist",
  cacheDir: "node_modules/.vitepress",
  rewrites: { "overview.md": "index.md" },
  cleanUrls: true,
  // Links to files of the repository beside the pages; those between pages are checked.
  ignoreDeadLinks: [
    /^http:\/\/localhost/,
    /\/examples\//,
    /\/CHANGELOG/,
    /\/SECURITY/,
    /\/README/,
    /\/AGENTS/,
    /\/ARCHITECTURE/,
    /decisions\/(index)?$/,
  ],
  markdown: {
    // Pages are plain Markdown: what looks like a tag or an expression of Vue is text.
    html: false,
    anchor: { slugify: anchorOf },
    config: (md) => {
      const render = md.renderer.render.bind(md.renderer);
      md.renderer.render = (...args) => render(...args).replaceAll("{{", "&#123;&#123;");
    },
  },
  vite: {
    // All pages' words for the search are one file.
    build: { chunkSizeWarningLimit: 4_000 },
  },
  themeConfig: {
    search: { provider: "local" },
    outline: [2, 3],
    sidebar: [
      { text: "What there is, and where", link: "/" },
      ...groups,
      { text: "Decisions", collapsed: true, items: decisions.map((name) => itemOf(`decisions/${name}`)) },
    ],
  },
});
