import pg from "pg";
import type { Points } from "./points.ts";

/** Sessions that can die with their COMMIT on its way: its bytes have left the process, and no answer has come. */
export function watchedPool(connectionString: string, points: Points): pg.Pool {
  class WatchedClient extends pg.Client {
    override query(...args: any[]): any {
      const isLast = args[0] === "commit" && points.isNext("committing");
      const answer = (super.query as (...args: any[]) => unknown).apply(this, args);
      if (isLast) {
        const { stream } = (this as unknown as { connection: { stream: NodeJS.WritableStream } }).connection;
        stream.write(Buffer.alloc(0), () => points.reach("committing"));
      }
      return answer;
    }
  }
  const pool = new pg.Pool({ connectionString, max: 4, Client: WatchedClient } as pg.PoolConfig);
  pool.on("error", () => {});
  return pool;
}
