/**
 * The server, started from a program: what `idem dev` and `idem start` run.
 *
 * ```ts
 * const server = await startServer({ mode: "dev", port: 0, store: "memory:" });
 * console.log(server.origin);
 * await server.close();
 * ```
 */

/** Loaded by `idem.dashboard()` with its first request. */
export { mountDashboard } from "./server/mounted/mount-dashboard.ts";
export { type RunningServer, type ServerParts, startServer } from "./server/start-server.ts";
export type { ServerSettings, World } from "./server/world.ts";
