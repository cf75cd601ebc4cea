// A disk that may lose power. For each file it knows what is surely there (as of its last sync) and what was written since;
// an image is one of the states the disk may come back with.
import { dirname } from "node:path";
import type { Chance } from "./chance.ts";
import type { DiskCall } from "./strace-log.ts";

type Pending =
  | { readonly kind: "write"; readonly at: number; readonly bytes: Buffer }
  | { readonly kind: "truncate"; readonly size: number };

class FileState {
  durable = new GrowingBuffer();
  /** Everything written, synced or not: what the running process reads. */
  size = 0;
  pending: Pending[] = [];
  /** Whether its name is surely in the folder, or surely gone from it. */
  isNamed = false;
  isUnlinked = false;
  /** The file that its name led to before, until the folder is synced: a rename may be undone by a power cut, and is never half done. */
  replaced: FileState | null = null;
}

/** The unsynced writes that reach the disk. */
export type LossMode = "all-lost" | "half-kept" | "sectors-kept";
export const lossModes: readonly LossMode[] = ["all-lost", "half-kept", "sectors-kept"];

const sectorBytes = 512;

export class Disk {
  private readonly files = new Map<string, FileState>();
  readonly counts = { writes: 0, syncs: 0 };

  apply(call: DiskCall): void {
    switch (call.kind) {
      case "open": {
        if (!call.isNew && !this.files.has(call.path)) return;
        const file = this.file(call.path);
        if (file.isUnlinked) this.files.set(call.path, new FileState());
        if (call.isTruncated) this.change(this.file(call.path), { kind: "truncate", size: 0 });
        return;
      }
      case "write":
        this.counts.writes++;
        this.change(this.file(call.path), { kind: "write", at: call.at, bytes: call.bytes });
        return;
      case "append": {
        const file = this.file(call.path);
        this.change(file, { kind: "write", at: file.size, bytes: call.bytes });
        return;
      }
      case "truncate":
        this.change(this.file(call.path), { kind: "truncate", size: call.size });
        return;
      case "sync":
        this.sync(call.path);
        return;
      case "unlink":
        this.file(call.path).isUnlinked = true;
        return;
      case "rename": {
        const file = this.file(call.from);
        this.files.delete(call.from);
        const before = this.files.get(call.to);
        file.replaced = before === undefined || before.isUnlinked ? null : before;
        // A synced file has its content under whichever name it is found.
        file.isNamed = file.replaced?.isNamed ?? false;
        this.files.set(call.to, file);
        return;
      }
    }
  }

  private file(path: string): FileState {
    const file = this.files.get(path) ?? new FileState();
    this.files.set(path, file);
    return file;
  }

  private change(file: FileState, pending: Pending): void {
    file.pending.push(pending);
    file.size = pending.kind === "truncate" ? pending.size : Math.max(file.size, pending.at + pending.bytes.length);
  }

  private sync(path: string): void {
    this.counts.syncs++;
    const file = this.files.get(path);
    if (file !== undefined) {
      for (const pending of file.pending) file.durable.apply(pending);
      file.pending = [];
      file.isNamed = true;
    }
    // A synced folder has its names as they are now.
    for (const [name, inside] of this.files) {
      if (dirname(name) !== path) continue;
      if (inside.isUnlinked) this.files.delete(name);
      else inside.isNamed = true;
      inside.replaced = null;
    }
  }

  /** The files as they may be found after the power came back. */
  image(mode: LossMode, chance: Chance): Map<string, Buffer> {
    const found = new Map<string, Buffer>();
    for (const [path, newest] of this.files) {
      const isUndone = newest.replaced !== null && (mode === "all-lost" || chance.happens(0.5));
      const file = isUndone ? newest.replaced! : newest;
      const keepsChange = mode !== "all-lost" && chance.happens(0.5);
      const isThere = file.isUnlinked ? file.isNamed && !keepsChange : file.isNamed || keepsChange;
      if (!isThere) continue;
      const kept = file.durable.copy();
      for (const pending of file.pending) for (const part of keptOf(pending, mode, chance)) kept.apply(part);
      found.set(path, kept.bytes());
    }
    return found;
  }
}

function* keptOf(pending: Pending, mode: LossMode, chance: Chance): Generator<Pending> {
  if (mode === "all-lost") return;
  if (mode === "half-kept" || pending.kind === "truncate") {
    if (chance.happens(0.5)) yield pending;
    return;
  }
  const { at, bytes } = pending;
  for (let from = 0; from < bytes.length; ) {
    // Sectors of the disk, not of the write.
    const to = Math.min(bytes.length, from + sectorBytes - ((at + from) % sectorBytes));
    if (chance.happens(0.5)) yield { kind: "write", at: at + from, bytes: bytes.subarray(from, to) };
    from = to;
  }
}

class GrowingBuffer {
  constructor(
    private room = Buffer.alloc(1 << 16),
    private size = 0,
  ) {}

  apply(change: Pending): void {
    const end = change.kind === "truncate" ? change.size : change.at + change.bytes.length;
    if (end > this.room.length) {
      const room = Buffer.alloc(Math.max(end, this.room.length * 2));
      this.room.copy(room, 0, 0, this.size);
      this.room = room;
    }
    if (change.kind === "write") {
      change.bytes.copy(this.room, change.at);
      this.size = Math.max(this.size, end);
      return;
    }
    if (change.size < this.size) this.room.fill(0, change.size, this.size);
    this.size = change.size;
  }

  copy(): GrowingBuffer {
    return new GrowingBuffer(Buffer.from(this.room.subarray(0, this.size)), this.size);
  }

  bytes(): Buffer {
    return this.room.subarray(0, this.size);
  }
}
