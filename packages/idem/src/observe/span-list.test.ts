import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { type DescribedSpan, spanAttributes, spans } from "./span-list.ts";

const page = readFileSync(new URL("../../../../docs/observability.md", import.meta.url), "utf8");

const tableOf = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");

test("the page has every span Idem makes, whose child it is and what it says", () => {
  const described: readonly DescribedSpan[] = Object.values(spans);
  const table = tableOf(
    ["span", "kind", "is", "child of"],
    described.map(({ name, kind, means, parent }) => [`\`${name}\``, kind, means, parent]),
  );
  expect(page, `docs/observability.md should have this table:\n${table}\n`).toContain(table);
});

test("the page has every attribute a span may have, and on which spans it is", () => {
  const on = (name: string) =>
    Object.entries(spans).flatMap(([span, { attributes }]) =>
      (attributes as readonly string[]).includes(name) ? `\`${span}\`` : [],
    );
  const table = tableOf(
    ["attribute", "says", "on"],
    Object.entries(spanAttributes).map(([name, says]) => [`\`${name}\``, says, on(name).join(" ")]),
  );
  expect(page, `docs/observability.md should have this table:\n${table}\n`).toContain(table);
});
