import { expect, test } from "vitest";
import { errors } from "../../model/errors.ts";
import { judgeFailure, refusalOf } from "./storage-failure.ts";

const failed = (code: string) => judgeFailure(Object.assign(new Error("refused"), { code }));

test.each([
  ["SQLITE_BUSY", "locked"],
  ["SQLITE_BUSY_RECOVERY", "locked"],
  ["SQLITE_PROTOCOL", "locked"],
  ["SQLITE_FULL", "full"],
  ["SQLITE_IOERR_WRITE", "failing"],
  ["SQLITE_IOERR_SHMSIZE", "failing"],
  ["SQLITE_READONLY_RECOVERY", "failing"],
  ["SQLITE_CANTOPEN", "failing"],
  ["SQLITE_IOERR_FSYNC", "ended"],
  ["SQLITE_IOERR_DIR_FSYNC", "ended"],
  ["SQLITE_CORRUPT_INDEX", "ended"],
  ["SQLITE_READONLY_DBMOVED", "ended"],
])("%s means that the store is %s", (code, kind) => {
  expect(failed(code)).toMatchObject({ kind, why: `refused (${code})` });
});

test("a call's own fault is nobody else's", () => {
  expect(failed("SQLITE_CONSTRAINT_NOTNULL")).toBeNull();
  expect(failed("SQLITE_TOOBIG")).toBeNull();
  expect(judgeFailure(new TypeError("undefined is not a function"))).toBeNull();
  expect(judgeFailure(errors.RUN_UNKNOWN({ runId: "r1" }))).toBeNull();
  expect(judgeFailure(errors.STORE_OWNED({ path: "a.db", owner: "somebody" }))).toMatchObject({ kind: "ended" });
});

test("nothing was stored is said only when it is sure", () => {
  const about = { path: "a.db", forMs: 7, isUnsure: false };
  expect(refusalOf(failed("SQLITE_BUSY")!, about).code).toBe("STORE_LOCKED");
  expect(refusalOf(failed("SQLITE_FULL")!, about).code).toBe("STORE_FULL");
  expect(refusalOf(failed("SQLITE_IOERR_SHMSIZE")!, about).code).toBe("STORE_UNAVAILABLE");
  expect(refusalOf(failed("SQLITE_BUSY")!, { ...about, isUnsure: true }).code).toBe("STORE_UNAVAILABLE");
});
