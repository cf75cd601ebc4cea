// Which migrations a store has had, against those of this build. A file that was on main once is never edited: stores that ran it would
// differ from stores that run it today, under the same version. So each store keeps the checksum of every file it ran, and a store that
// ran other files is refused. Stores from before checksums are recognised by their schema itself (`differencesFrom`), and what they lack
// by the known edits of those days is mended. The toolkit's tables in people's own databases are judged by the same rules, each by itself.
import { createHash } from "node:crypto";
import { errors } from "../model/errors.ts";
import { readPackageText } from "../platform/package-files.ts";

export interface Migration {
  readonly version: number;
  readonly name: string;
  readonly sql: string;
  readonly checksum: string;
}

/** A migration's name, which begins with its version, and the checksum of its text. */
export type ReleasedFiles = Readonly<Record<string, string>>;

/** Line ends are left out: git writes others on Windows. */
export const checksumOf = (text: string): string =>
  createHash("sha256").update(text.replaceAll("\r\n", "\n")).digest("hex").slice(0, 16);

export const migrationsOf = (folder: string, released: ReleasedFiles): Migration[] =>
  Object.entries(released).map(([name, checksum]) => ({
    version: Number(name.slice(0, 4)),
    name,
    // Read only when it is run: a store that is current needs none of them.
    get sql() {
      return readPackageText(`${folder}/${name}.sql`);
    },
    checksum,
  }));

/** A migration as a store remembers it; those from before checksums have none. */
export interface AppliedMigration {
  readonly version: number;
  readonly checksum: string | null;
}

/** A history that migrations can go on from. */
export type OurHistory =
  | { readonly kind: "current" }
  | { readonly kind: "empty" }
  | { readonly kind: "behind"; readonly found: number }
  /** Made before checksums, or brought on by a build that kept none: only its schema tells what it is. */
  | { readonly kind: "unrecorded"; readonly found: number };

export type History =
  | OurHistory
  | { readonly kind: "newer"; readonly found: number; readonly known: number }
  | { readonly kind: "differs"; readonly why: string };

export function judgeHistory(
  found: number,
  applied: readonly AppliedMigration[],
  migrations: readonly Omit<Migration, "sql">[],
): History {
  const known = migrations.at(-1)!.version;
  if (found > known) return { kind: "newer", found, known };
  if (found === 0) return { kind: "empty" };
  const checksums = new Map(applied.map(({ version, checksum }) => [version, checksum]));
  const ours = migrations.filter(({ version }) => version <= found);
  for (const { version, name, checksum } of ours) {
    const theirs = checksums.get(version) ?? null;
    if (theirs === null || theirs === checksum) continue;
    const why = `its migration ${version} has the checksum ${theirs}; here it is ${name} with ${checksum}`;
    return { kind: "differs", why };
  }
  if (ours.some(({ version }) => (checksums.get(version) ?? null) === null)) return { kind: "unrecorded", found };
  return found === known ? { kind: "current" } : { kind: "behind", found };
}

/** Refuses what is newer or other. */
export function requireOurs(history: History, path: string): OurHistory {
  if (history.kind === "newer") throw errors.STORE_NEWER({ path, found: history.found, known: history.known });
  if (history.kind === "differs") throw errors.STORE_HISTORY_DIFFERS({ path, why: history.why });
  return history;
}

/** A schema as a map from each thing in it ("table jobs", "column jobs.rank", "index jobs_ready") to how it was defined. */
export type SchemaThings = ReadonlyMap<string, string>;

export interface Difference {
  readonly thing: string;
  /** Null where it is missing. */
  readonly found: string | null;
  readonly wanted: string;
}

/** Things that are missing or defined otherwise. Additions are allowed: an index of somebody's own changes no fact. */
export function differencesFrom(wanted: SchemaThings, found: SchemaThings): Difference[] {
  const isOfMissingTable = (thing: string): boolean => {
    const table = /^(?:column|constraint) (\w+)\./.exec(thing)?.[1];
    return table !== undefined && !found.has(`table ${table}`);
  };
  return [...wanted]
    .filter(([thing, definition]) => found.get(thing) !== definition && !isOfMissingTable(thing))
    .map(([thing, definition]) => ({ thing, found: found.get(thing) ?? null, wanted: definition }));
}

/** A thing left out by a build that was on main for a while, and the statements that add it. */
export interface Mend {
  readonly thing: string;
  /** That build's definition of it; null where it had none. */
  readonly found: string | null;
  readonly sql: string;
}

export const mendOf = (mends: readonly Mend[], { thing, found }: Difference): Mend | undefined =>
  mends.find((mend) => mend.thing === thing && mend.found === found);

/** One sentence for a person; a long list of differences is one cause. */
export function tellDifferences(version: number, differences: readonly Difference[]): string {
  const [first, ...others] = differences.map(({ thing, found, wanted }) =>
    found === null ? `${thing} is missing` : `${thing} is "${found}" instead of "${wanted}"`,
  );
  const more = others.length === 0 ? "" : ` (and ${others.length} more)`;
  return `it says version ${version}, but ${first}${more}`;
}
