import { expect, test } from "vitest";
import { ManualPlatform } from "../platform/manual-platform.ts";
import { fakeTerminal } from "./fake-terminal.ts";
import { fit, printable, textWidth } from "./printable.ts";
import { showProgress } from "./progress.ts";
import { table } from "./table.ts";
import { bytes, duration, relative } from "./times.ts";

const plain = (columns: number | null) => ({ columns, bold: (text: string) => text });

test("columns line up, numbers to the right, wide characters counted as two", () => {
  const columns = [{ title: "NAME" }, { title: "N", align: "right" as const }, { title: "END" }];
  expect(
    table(
      columns,
      [
        ["日本", "1", "x"],
        ["abc", "100", "y"],
      ],
      plain(null),
    ),
  ).toBe("NAME    N  END\n日本    1  x\nabc   100  y\n");
});

test("on a narrow screen what may shrink shrinks, what may go goes, and the rest stays whole", () => {
  const columns = [{ title: "ID" }, { title: "DATA", shrinks: true }, { title: "WHEN", drops: true }];
  const rows = [["01JZZ4Q8X5", "a long text that has no room", "yesterday"]];
  expect(table(columns, rows, plain(36))).toBe(
    "ID          DATA           WHEN\n01JZZ4Q8X5  a long text …  yesterday\n",
  );
  expect(table(columns, rows, plain(24))).toBe("ID          DATA\n01JZZ4Q8X5  a long text…\n");
});

test("no payload moves the cursor, colours the screen or reorders the line", () => {
  expect(printable("a\x1b[2Jb\r\nc\u202ed\u200be\x9bf")).toBe("a\\x1b[2Jb\\r\\nc\\u{202e}d\\u{200b}e\\x9bf");
  expect(textWidth("👍é")).toBe(3);
  expect(fit("日本語", 4)).toBe("日…");
});

test("times and sizes for people", () => {
  expect([relative(0, 5_000), relative(120_000, 0), relative(5, 5)]).toEqual(["5 s ago", "in 2 min", "now"]);
  expect([duration(12), duration(1_250), duration(125_000), duration(90_000_000)]).toEqual([
    "12 ms",
    "1.25 s",
    "2 min 5 s",
    "1 d 1 h",
  ]);
  expect([bytes(10), bytes(2048), bytes(5 * 1024 ** 3)]).toEqual(["10 B", "2.0 KiB", "5.00 GiB"]);
});

test("progress is drawn on a terminal and logged sparingly elsewhere, always on standard error", () => {
  const platform = new ManualPlatform();
  const piped = fakeTerminal({ cwd: "/", platform });
  const logged = showProgress(piped, "copying pages");
  for (let i = 0; i <= 120; i++) {
    logged.update(i, 120);
    platform.clock.advance(100);
  }
  logged.end();
  expect(piped.written.out).toBe("");
  expect(piped.written.err.trimEnd().split("\n")).toHaveLength(2);
  const drawn: string[] = [];
  const screen = { ...piped, err: { write: (text: string) => void drawn.push(text), isTerminal: true, columns: 80 } };
  const bar = showProgress(screen, "copying pages");
  bar.update(60, 120);
  bar.end();
  expect(drawn[0]).toContain(" 50 % of 120");
  expect(drawn.at(-1)).toBe("\r\x1b[2K");
});
