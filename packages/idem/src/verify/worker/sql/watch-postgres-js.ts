// `postgres` (postgres.js), and what is built on it: each query where it is handed to its connection.
import { asCaller, currentCaller, placeIn } from "../caller.ts";
import { isOurs } from "../our-folder.ts";
import type { WatchedPackage } from "../watch-packages.ts";
import type { Outside } from "../watcher.ts";
import { perform } from "./perform-statement.ts";
import { onWorldTime } from "./postgres-clock.ts";
import { world } from "./postgres-world.ts";
import { refusedDatabase } from "./watch-pg.ts";

interface Query {
  strings: readonly string[] & { readonly raw?: unknown };
  args: readonly unknown[];
  tagged: boolean;
  executed: boolean;
  options: Record<string, unknown>;
  readonly handler: unknown;
  readonly origin: string;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
  readonly state?: { readonly pid?: number } | null;
}

export const postgresJsPackage = (outside: Outside): WatchedPackage => ({
  file: /[\\/]postgres[\\/](cjs[\\/])?src[\\/]query\.js$/,
  take: ({ Query }: { readonly Query: { readonly prototype: Record<string, (this: Query) => Promise<void>> } }) => {
    const { prototype } = Query;
    const { handle } = prototype;
    prototype.handle = async function () {
      if (this.executed || !outside.isWatched()) return handle!.call(this);
      this.executed = true;
      const { resolve, reject } = this;
      const database = world?.only ?? null;
      if (database === null) {
        reject(refusedDatabase(outside, "by the package postgres"));
        return;
      }
      // Parts of a statement are put together by their connection; names and values do not matter here.
      const text = this.strings.join("$1");
      const send = (): Promise<unknown> =>
        new Promise((ok, no) => {
          this.resolve = ok;
          this.reject = no;
          this.executed = false;
          const { raw } = this.strings;
          this.strings = Object.assign(this.strings.map(onWorldTime), raw === undefined ? {} : { raw });
          void handle!.call(this);
        });
      const caller = currentCaller();
      const place = caller === null || !this.tagged ? null : placeIn(this.origin, isOurs);
      const placed = caller === null || place === null ? caller : { ...caller, place };
      const performed = () =>
        perform(outside, text, {
          database,
          run: send,
          instead: (sql) => {
            this.strings = [sql];
            this.args = [];
            this.tagged = false;
            this.options = { ...this.options, simple: true, prepare: false };
            return send();
          },
          cut: () => world?.cut(database, this.state?.pid ?? 0),
        });
      await (placed === null ? performed() : asCaller(placed, performed)).then(resolve, reject);
    };
  },
});
