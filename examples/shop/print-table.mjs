// The end of a story: every count, what it must be and what it was. The story is also a test: it must not end well when it did not.
import { bold, green, print, red } from "../double-invoice/terminal.mjs";

export function printTable(table) {
  print(bold(`  ${"".padEnd(54)} expected   seen`));
  for (const { name, lines } of table) {
    print(`  ${bold(name)}`);
    for (const { what, expected, seen } of lines) {
      const verdict = expected === seen ? green("✓") : red("✗");
      print(`    ${what.padEnd(54)} ${String(expected).padStart(6)} ${String(seen).padStart(6)}  ${verdict}`);
    }
  }
  print();
  const lines = table.flatMap((act) => act.lines);
  const wrong = lines.filter(({ expected, seen }) => expected !== seen).length;
  if (wrong > 0) throw new Error(`${wrong} of the counts above are not what Idem promises: please report it.`);
  print(green(`  All ${lines.length} counts are as they must be.`));
  print();
}
