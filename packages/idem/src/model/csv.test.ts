import { expect, test } from "vitest";
import { csvOf } from "./csv.ts";

test("no cell is a formula, by whatever it begins with, and none is two cells, by whatever separates them", () => {
  const cellsOf = (...cells: string[]) => csvOf([cells]).slice(0, -2);
  for (const begin of [
    "=",
    "+",
    "-",
    "@",
    "\t=",
    "\r=",
    "\n=",
    " =",
    "\u00a0=",
    "\uff1d",
    "\uff0b",
    "\uff0d",
    "\uff20",
  ]) {
    expect(cellsOf(`${begin}cmd|' /C calc'!A0`).replace(/^"/, "").startsWith("'"), JSON.stringify(begin)).toBe(true);
  }
  for (const separator of [";", "\t", ",", "\n", "\r\n"]) {
    expect(cellsOf(`fine${separator}=1+1`)).toBe(`"fine${separator}=1+1"`);
  }
  expect(cellsOf('a"=1')).toBe('"a""=1"');
  expect(cellsOf("plain", "7", "a=b", "")).toBe("plain,7,a=b,");
});
