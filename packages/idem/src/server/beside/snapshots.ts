// Copies of the store that are fetched in parts: made beside the store by `idem backup`, for this user alone, and removed once nobody asks for them any more.
import { errors } from "../../model/errors.ts";
import {
  fileBytes,
  fileSha256,
  filesLike,
  type OwnCommandEnd,
  readFilePart,
  removeFile,
} from "../../platform/own-command.ts";
import type { Timer } from "../../platform/platform.ts";
import { partBytesMax } from "../api/backup-bounds.ts";
import type { World } from "../world.ts";
import { type CommandCaller, checkBeside, storeCommandsOf } from "./store-commands.ts";
import { readJsonOf } from "./told-by-command.ts";

// A line that broke is mended within it.
const idleMs = 10 * 60_000;
const afterLastMs = 60_000;
// Each takes as much room as the store.
const madeMax = 2;
// No name that a person gives a copy of theirs: what begins so is removed.
const ending = ".idem-fetched-";

interface Snapshot {
  readonly path: string;
  readonly store: string;
  readonly bytes: number;
  readonly sha256: string;
  gone: Timer | null;
}

/** A copy has every environment, so only an operator may make one. */
const seesAll: CommandCaller = { onlyEnv: null };

const byWorld = new WeakMap<World, Snapshots>();

export function snapshotsOf(world: World): Snapshots {
  const known = byWorld.get(world) ?? new Snapshots(world);
  byWorld.set(world, known);
  return known;
}

const isPostgres = (address: string): boolean => /^postgres(ql)?:/i.test(address);

export class Snapshots {
  private readonly made = new Map<string, Promise<Snapshot>>();

  constructor(private readonly world: World) {}

  /** Null while it is made. */
  async make(
    env: string,
    id: string,
    onBegun: () => Promise<unknown>,
  ): Promise<Pick<Snapshot, "bytes" | "store" | "sha256"> | null> {
    const making = this.made.get(id) ?? this.begin(env, id);
    if (this.made.has(id)) storeCommandsOf(this.world).keep(env, id, "backup");
    else {
      this.made.set(id, making);
      making.catch(() => this.made.delete(id));
      await onBegun();
    }
    const made = await storeCommandsOf(this.world).orLate(making);
    return made === null ? null : told(made);
  }

  private begin(env: string, id: string): Promise<Snapshot> {
    const { store: address } = this.world.settings;
    if (isPostgres(address)) throw errors.BACKUP_NOT_HERE({ store: "a PostgreSQL store" });
    if (this.made.size >= madeMax) {
      throw errors.SERVER_BUSY({ why: `${this.made.size} copies of its store are kept for those who fetch them` });
    }
    checkBeside(address);
    const file = address.replace(/^sqlite:/, "");
    const path = `${file}${ending}${id}`;
    // Of a server that ended in the middle.
    if (this.made.size === 0) for (const left of filesLike(`${file}${ending}`)) removeFile(left);
    return this.finish(id, path, storeCommandsOf(this.world).run(env, id, ["backup", path, "--json"], seesAll));
  }

  private async finish(id: string, path: string, end: Promise<OwnCommandEnd>): Promise<Snapshot> {
    const { store } = readJsonOf(await end, "idem backup") as { readonly store: string };
    const snapshot = { path, store, bytes: fileBytes(path) ?? 0, sha256: await fileSha256(path), gone: null };
    this.keep(id, snapshot, idleMs);
    return snapshot;
  }

  async read(id: string, offset: number): Promise<{ part: string; next: number | null }> {
    const snapshot = await this.made.get(id);
    if (snapshot === undefined) throw errors.BACKUP_UNKNOWN({ id: id.slice(0, 64) });
    const part = readFilePart(snapshot.path, offset, partBytesMax);
    const end = offset + part.length;
    const next = part.length === 0 || end >= snapshot.bytes ? null : end;
    this.keep(id, snapshot, next === null ? afterLastMs : idleMs);
    return { part: part.toString("base64"), next };
  }

  /** Whatever was made is removed, once it is. */
  close(): void {
    for (const [id, making] of this.made) {
      making.then(
        (snapshot) => this.drop(id, snapshot),
        () => {},
      );
    }
  }

  private keep(id: string, snapshot: Snapshot, ms: number): void {
    snapshot.gone?.cancel();
    snapshot.gone = this.world.platform.timer(ms, () => this.drop(id, snapshot), { background: true });
  }

  private drop(id: string, snapshot: Snapshot): void {
    snapshot.gone?.cancel();
    this.made.delete(id);
    removeFile(snapshot.path);
  }
}

const told = ({ bytes, store, sha256 }: Snapshot) => ({ bytes, store, sha256 });
