// idem docs: the pages that came with this version, in the terminal.
import { nearestWord } from "../../model/nearest-word.ts";
import { packagePages, readPackageText } from "../../platform/package-files.ts";
import type { Command } from "../command.ts";
import { failed } from "../exit.ts";
import { printable } from "../printable.ts";

export const docs: Command = {
  name: "docs",
  summary: "print a page of the documentation of this version, or the list of them",
  whyNoServer: "it prints the pages of this package and asks no store.",
  usage: "[page[#heading]]",
  words: { min: 0, max: 1 },
  options: { json: { help: "one JSON document for programs instead of text for people" } },
  details: [
    "A page is called by its name (functions, errors, quickstarts/nextjs, or just nextjs); what follows a # is one of its headings, as its links",
    "write it, and only that part is printed.",
  ],
  examples: ["idem docs", "idem docs functions", "idem docs errors#store_owned", "idem docs agents | less"],
  async run(context) {
    const pages = packagePages("../docs");
    const [asked] = context.words;
    if (asked === undefined) {
      const listed = pages.filter((page) => !page.startsWith("decisions/"));
      const titled = listed.map((page) => ({ page, title: titleOf(read(page)) }));
      if (context.isJson) context.json({ pages: titled });
      const width = Math.max(...listed.map((page) => page.length));
      if (!context.isJson) for (const { page, title } of titled) context.say(`${page.padEnd(width)}  ${title}`);
      return 0;
    }
    const [name, heading] = asked.replace(/^docs\//, "").split("#") as [string, string | undefined];
    const page = findPage(name.replace(/\.md$/, ""), pages);
    const whole = read(page);
    const text = heading === undefined ? whole : partOf(whole, page, heading.toLowerCase());
    if (context.isJson) context.json({ page, title: titleOf(whole), text });
    else context.io.out.write(text);
    return 0;
  },
};

const read = (page: string): string => readPackageText(`../docs/${page}.md`);

const titleOf = (text: string): string => /^# (.*)$/m.exec(text)?.[1]?.replaceAll("`", "") ?? "";

/** By its whole name, or by the last part of it where no other page has the same. */
function findPage(name: string, pages: readonly string[]): string {
  const lastOf = (page: string) => page.split("/").at(-1)!;
  const found = pages.find((page) => page === name) ?? pages.find((page) => lastOf(page) === name);
  if (found !== undefined) return found;
  const near = nearestWord(name, pages) ?? nearestWord(name, pages.map(lastOf));
  const hint = near === null ? "" : ` Did you mean "${near}"?`;
  throw failed(`There is no page "${printable(name)}".${hint} "idem docs" lists them.`);
}

/** From the heading on, to the next one of its rank. */
function partOf(text: string, page: string, anchor: string): string {
  const lines = text.split("\n");
  let isCode = false;
  const headings = lines.flatMap((line, at) => {
    if (line.startsWith("```")) isCode = !isCode;
    const [, marks, words] = (isCode ? null : /^(#+) (.*)$/.exec(line)) ?? [];
    return marks === undefined ? [] : [{ at, rank: marks.length, anchor: anchorOf(words!) }];
  });
  const first = headings.findIndex((each) => each.anchor === anchor);
  if (first === -1) {
    const near = nearestWord(
      anchor,
      headings.map((each) => each.anchor),
    );
    const hint = near === null ? "" : ` Did you mean "${page}#${near}"?`;
    throw failed(`The page "${page}" has no heading "${printable(anchor)}".${hint}`);
  }
  const { at, rank } = headings[first]!;
  const next = headings.slice(first + 1).find((each) => each.rank <= rank);
  return `${lines.slice(at, next?.at).join("\n").trimEnd()}\n`;
}

/** As GitHub makes them, and links between the pages write them. */
const anchorOf = (words: string): string =>
  words
    .replace(/\[([^\]]+)\]\([^)]*\)/g, "$1")
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");
