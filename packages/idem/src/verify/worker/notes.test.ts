// Things that outlive the process of an app's world: notes in a file, and what it wrote to files.
import fs, { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { notesIn } from "./notes.ts";
import { type FileNote, Overlay } from "./overlay.ts";

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), "notes-"));
  onTestFinished(() => rmSync(made, { recursive: true }));
  return made;
}

const really = <T>(body: () => T): T => body();

test("a note is there for whoever comes next, as soon as it is added", () => {
  const at = folder();
  const [one, other] = [notesIn(at, really)<object>("mail"), notesIn(at, really)<object>("mail")];
  expect(other.all()).toEqual([]);
  one.add({ to: "ann", text: "two\nlines" });
  one.add({ to: "bob" });
  expect(other.all()).toEqual([{ to: "ann", text: "two\nlines" }, { to: "bob" }]);
});

test("files a process wrote and deleted are so for the process after it, and the project's are as they were", () => {
  const [project, world] = [folder(), folder()];
  for (const name of ["kept.txt", "gone.txt"]) writeFileSync(join(project, name), `${name}\n`);
  const open = (): Overlay =>
    new Overlay(fs, join(world, "files"), tmpdir(), project, notesIn(world, really)<FileNote>("files"));
  const by = { fn: "shop-journal", effect: 1 };
  const before = open();
  fs.appendFileSync(before.writePath(join(project, "kept.txt")), "more\n");
  before.wrote(join(project, "kept.txt"), by);
  fs.rmSync(before.writePath(join(project, "gone.txt")));
  before.removed(join(project, "gone.txt"), by);
  const after = open();
  expect(fs.readFileSync(after.readPath(join(project, "kept.txt")), "utf8")).toBe("kept.txt\nmore\n");
  expect(after.exists(join(project, "gone.txt"))).toBe(false);
  expect(after.things().map(({ path, state, by: fn }) => ({ path, state, fn }))).toEqual([
    { path: ["kept.txt"], state: ["more"], fn: "shop-journal" },
    { path: ["gone.txt"], state: "‹deleted›", fn: "shop-journal" },
  ]);
  expect(fs.readFileSync(join(project, "kept.txt"), "utf8")).toBe("kept.txt\n");
  expect(fs.existsSync(join(project, "gone.txt"))).toBe(true);
});
