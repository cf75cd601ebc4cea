// Aligned columns for people. On a screen the widest columns give way; in a pipe nothing is left out.
import { fit, textWidth } from "./printable.ts";

export interface Column {
  readonly title: string;
  readonly align?: "right";
  /** May be shortened on a narrow screen; ids may not, they are for copying. */
  readonly shrinks?: boolean;
  /** May be left out where shortening was not enough; what it says can be had otherwise. */
  readonly drops?: boolean;
  readonly paint?: (text: string, row: number) => string;
}

const gap = "  ";
const shrunkMin = 8;

/** Cells must be printable already. */
export function table(
  allColumns: readonly Column[],
  allRows: readonly (readonly string[])[],
  screen: { readonly columns: number | null; readonly bold: (text: string) => string },
): string {
  const { columns, rows, widths } = layOut(allColumns, allRows, screen.columns);
  const line = (cells: readonly string[], row: number | null) =>
    cells
      .map((text, i) => {
        const column = columns[i]!;
        const shown = fit(text, widths[i]!);
        const painted = row === null ? screen.bold(shown) : (column.paint?.(shown, row) ?? shown);
        const padding = " ".repeat(widths[i]! - textWidth(shown));
        if (column.align === "right") return padding + painted;
        return i === cells.length - 1 ? painted : painted + padding;
      })
      .join(gap)
      .trimEnd();
  const titles = columns.map(({ title }) => title);
  return `${[line(titles, null), ...rows.map((row, i) => line(row, i))].join("\n")}\n`;
}

function layOut(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  screen: number | null,
): { columns: readonly Column[]; rows: readonly (readonly string[])[]; widths: number[] } {
  const widths = columns.map((column, i) =>
    Math.max(textWidth(column.title), ...rows.map((row) => textWidth(row[i] ?? ""))),
  );
  if (screen === null || shrink(widths, columns, screen)) return { columns, rows, widths };
  const dropped = columns.findIndex(({ drops }) => drops === true);
  if (dropped === -1) return { columns, rows, widths };
  const others = <T>(list: readonly T[]): T[] => list.filter((_, i) => i !== dropped);
  return layOut(others(columns), rows.map(others), screen);
}

/** Whether the columns fit now. */
function shrink(widths: number[], columns: readonly Column[], screen: number): boolean {
  let over = widths.reduce((sum, width) => sum + width, 0) + gap.length * (widths.length - 1) - screen;
  while (over > 0) {
    let widest = -1;
    for (const [i, column] of columns.entries()) {
      if (column.shrinks !== true || widths[i]! <= shrunkMin) continue;
      if (widest === -1 || widths[i]! > widths[widest]!) widest = i;
    }
    if (widest === -1) return false;
    widths[widest]! -= 1;
    over -= 1;
  }
  return true;
}
