// Whether the names of a store's files still lead to the files that are open. A file that lost its name goes on taking writes, and nobody
// will ever find them: a path is therefore compared with what it was when the store was opened.
import type { FileIdentity } from "../../platform/node-files.ts";
import type { OpenFile } from "./thread-messages.ts";

export type IdentityOf = (path: string) => FileIdentity | null | undefined;

// While a handle is open SQLite neither deletes nor replaces any of them.
const parts = [
  { ending: "", name: "its file" },
  { ending: "-wal", name: "its write-ahead log (-wal)" },
  { ending: "-shm", name: "the index of its write-ahead log (-shm)" },
] as const;

export class FileWatch {
  private readonly watched: readonly {
    readonly path: string;
    readonly name: string;
    readonly identity: FileIdentity;
  }[];

  constructor(
    path: string,
    private readonly identityOf: IdentityOf,
  ) {
    this.watched = parts.flatMap(({ ending, name }) => {
      const identity = identityOf(`${path}${ending}`);
      return typeof identity === "string" ? [{ path: `${path}${ending}`, name, identity }] : [];
    });
  }

  /** The file itself, by what it was when it was opened. */
  get identity(): FileIdentity | null {
    return this.watched[0]?.identity ?? null;
  }

  /** Those that are watched. */
  get files(): readonly OpenFile[] {
    return this.watched.map(({ path, identity }) => ({ path, identity }));
  }

  /** A sentence on what happened to it; null while every name leads where it did. A file that cannot be looked at for now is not gone. */
  look(): string | null {
    for (const { path, name, identity } of this.watched) {
      const found = this.identityOf(path);
      if (found === null) return `${name} was deleted or moved away while this process had it open`;
      if (found !== undefined && found !== identity)
        return `${name} was replaced by another one while this process had it open`;
    }
    return null;
  }
}
