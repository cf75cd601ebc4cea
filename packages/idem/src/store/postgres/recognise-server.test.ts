import { describe, expect, test } from "vitest";
import { recogniseServer, type ServerAbout } from "./recognise-server.ts";

const plain: ServerAbout = {
  version: "PostgreSQL 18.4 on x86_64-pc-linux-gnu, compiled by gcc (Debian 14.2.0-19) 14.2.0, 64-bit",
  citus: null,
  ybIsolation: null,
  hasDsqlViews: false,
};
const yugabyte =
  "PostgreSQL 15.12-YB-2.25.2.0-b0 on x86_64-pc-linux-gnu, compiled by clang version 19.1.0 (https://github.com/yugabyte/llvm-project.git), 64-bit";

describe("a server is recognised by what it says about itself", () => {
  test.each([
    plain.version,
    "PostgreSQL 14.23 on x86_64-pc-linux-musl, compiled by gcc (Alpine 15.2.0) 15.2.0, 64-bit",
    "PostgreSQL 15.18 (Debian 15.18-0+deb12u1) on x86_64-pc-linux-gnu, compiled by gcc (Debian 12.2.0-14+deb12u1) 12.2.0, 64-bit",
  ])("%s is PostgreSQL, of which nothing is said", (version) => {
    expect(recogniseServer({ ...plain, version })).toEqual({
      kind: "PostgreSQL",
      refusal: null,
      note: null,
      hasHints: true,
      hasTableLocks: true,
    });
  });

  test.each([
    "CockroachDB CCL v24.3.5 (x86_64-pc-linux-gnu, built 2025/02/03 17:28:15, go1.22.8 X:nocoverageredesign)",
    "CockroachDB CCL v20.1.15 (x86_64-unknown-linux-gnu, built 2021/04/26 16:11:58, go1.13.9)",
    "CockroachDB CCL v26.2.5",
  ])("%s is refused", (version) => {
    const server = recogniseServer({ ...plain, version });
    expect(server.kind).toBe("CockroachDB");
    expect(server.refusal).toContain("does not make the store's tables");
  });

  test.each([yugabyte, "PostgreSQL 15.12-YB-2025.2.3.2-b0", "PostgreSQL 15.2-YB-2.25.0.0-b0 on aarch64"])(
    "%s is asked in plain statements where read committed is what it says",
    (version) => {
      const server = recogniseServer({ ...plain, version, ybIsolation: "read committed" });
      expect(server).toMatchObject({ kind: "YugabyteDB", refusal: null, hasHints: false, hasTableLocks: false });
      expect(server.note).toContain("never run");
    },
  );

  test.each([
    [yugabyte, "repeatable read", "yb_enable_read_committed_isolation=true"],
    [yugabyte, null, '"unknown" where read committed is asked for'],
    ["PostgreSQL 11.2-YB-2.21.1.0-b0 on x86_64-pc-linux-gnu", "read committed", "PostgreSQL 11, older than 14"],
  ])("%s with %s is refused", (version, ybIsolation, why) => {
    expect(recogniseServer({ ...plain, version, ybIsolation }).refusal).toContain(why);
  });

  test("Aurora DSQL is refused, whatever version it says it has", () => {
    const server = recogniseServer({ ...plain, version: "PostgreSQL 16", hasDsqlViews: true });
    expect(server.kind).toBe("Aurora DSQL");
    expect(server.refusal).toContain("no locks of rows");
  });

  test("a server with Citus is PostgreSQL, and is told where its tables must be", () => {
    const server = recogniseServer({ ...plain, citus: "13.0-1" });
    expect(server).toMatchObject({ kind: "Citus", refusal: null, hasHints: true, hasTableLocks: true });
    expect(server.note).toContain("Citus 13.0-1");
  });
});
