import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { lookAtPath, type PathLook } from "../../platform/look-at-path.ts";
import { nodePlatform } from "../../platform/node-platform.ts";
import { openStore } from "../../sdk/open-store.ts";
import { openingFault } from "./opening-fault.ts";

const file: PathLook = { kind: "file", hasFolder: true, refusal: null };

describe("why a file did not open has a code of its own, and “try again” only where it helps", () => {
  test.each<[{ code?: string; message: string }, Partial<PathLook>, string]>([
    [
      {
        code: "ERR_DLOPEN_FAILED",
        message: "was compiled against a different Node.js version using NODE_MODULE_VERSION 115",
      },
      {},
      "STORE_DRIVER_UNUSABLE",
    ],
    [{ message: "Could not locate the bindings file. Tried: …" }, {}, "STORE_DRIVER_UNUSABLE"],
    [{ code: "SQLITE_NOTADB", message: "file is not a database" }, {}, "STORE_NOT_A_DATABASE"],
    [{ code: "SQLITE_CANTOPEN", message: "unable to open database file" }, { kind: "folder" }, "STORE_NOT_A_DATABASE"],
    [{ code: "SQLITE_CORRUPT", message: "database disk image is malformed" }, {}, "STORE_DAMAGED"],
    [{ code: "SQLITE_CANTOPEN", message: "unable to open database file" }, { refusal: "EROFS" }, "STORE_READ_ONLY"],
    [{ code: "SQLITE_READONLY", message: "attempt to write a readonly database" }, {}, "STORE_READ_ONLY"],
    [
      { code: "SQLITE_CANTOPEN", message: "unable to open database file" },
      { refusal: "EACCES" },
      "STORE_ACCESS_DENIED",
    ],
    [{ code: "SQLITE_READONLY_DIRECTORY", message: "readonly" }, { refusal: "EACCES" }, "STORE_ACCESS_DENIED"],
    [{ code: "EACCES", message: "EACCES: permission denied, mkdir" }, { kind: "nothing" }, "STORE_ACCESS_DENIED"],
    [{ code: "EROFS", message: "EROFS: read-only file system, mkdir" }, { kind: "nothing" }, "STORE_READ_ONLY"],
    [
      { code: "ENOTDIR", message: "ENOTDIR: not a directory, mkdir" },
      { kind: "nothing", hasFolder: false },
      "STORE_MISSING",
    ],
    [{ message: "Cannot open database because the directory does not exist" }, { hasFolder: false }, "STORE_MISSING"],
    [{ code: "SQLITE_BUSY", message: "database is locked" }, {}, "STORE_UNAVAILABLE"],
    [{ code: "SQLITE_IOERR_READ", message: "disk I/O error" }, {}, "STORE_UNAVAILABLE"],
    [{ code: "SQLITE_FULL", message: "database or disk is full" }, {}, "STORE_UNAVAILABLE"],
  ])("%j at %j is %s", ({ message, ...facts }, look, code) => {
    const fault = openingFault(Object.assign(new Error(message), facts), "shop.db", { ...file, ...look });
    expect(fault.code).toBe(code);
    expect(fault.retry).toBe(code === "STORE_UNAVAILABLE" ? "later" : "after-fix");
    if (code !== "STORE_UNAVAILABLE") expect(fault.message).not.toMatch(/try again/i);
  });
});

describe("a real file", () => {
  const folder = () => {
    const path = mkdtempSync(join(tmpdir(), "idem-opening-"));
    onTestFinished(() => rmSync(path, { recursive: true, force: true }));
    return path;
  };
  const open = (path: string) => openStore(`sqlite:${path}`, nodePlatform);

  test("that is no database is told so, and left as it is", async () => {
    const path = join(folder(), "letter.db");
    writeFileSync(path, "Dear all, this is a letter and has never been anything else.\n".repeat(100));
    await expect(open(path)).rejects.toMatchObject({ code: "STORE_NOT_A_DATABASE" });
  });

  test("that is a folder is told so", async () => {
    const path = join(folder(), "shop.db");
    mkdirSync(path);
    await expect(open(path)).rejects.toMatchObject({ code: "STORE_NOT_A_DATABASE" });
    expect(lookAtPath(path).kind).toBe("folder");
  });

  test("whose folder cannot be made is told so", async () => {
    const inTheWay = join(folder(), "file");
    writeFileSync(inTheWay, "");
    await expect(open(join(inTheWay, "below", "shop.db"))).rejects.toMatchObject({ code: "STORE_MISSING" });
  });
});
