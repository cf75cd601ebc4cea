// Reads what strace wrote: one call per line, `-xx` strings, threads interleaved. Only calls that change the store's files
// or say something was acknowledged come out, in the order they took effect.
//
// A write counts from its first half (it may reach the disk from then on), a sync from its second (it is done only then).

export type DiskCall =
  | { readonly kind: "open"; readonly path: string; readonly isNew: boolean; readonly isTruncated: boolean }
  | { readonly kind: "write"; readonly path: string; readonly at: number; readonly bytes: Buffer }
  | { readonly kind: "append"; readonly path: string; readonly bytes: Buffer }
  | { readonly kind: "truncate"; readonly path: string; readonly size: number }
  | { readonly kind: "sync"; readonly path: string }
  | { readonly kind: "unlink"; readonly path: string }
  | { readonly kind: "rename"; readonly from: string; readonly to: string };

/** The calls that must be traced. */
export const tracedCalls = [
  "open",
  "openat",
  "close",
  "write",
  "pwrite64",
  "writev",
  "pwritev",
  "ftruncate",
  "fsync",
  "fdatasync",
  "unlink",
  "unlinkat",
  "rename",
  "renameat",
  "renameat2",
] as const;

export class StraceReader {
  private readonly paths = new Map<number, string>();
  private readonly unfinished = new Map<string, string>();

  constructor(private readonly isOurs: (path: string) => boolean) {}

  *read(line: string): Generator<DiskCall> {
    const [, thread, text] = /^(\d+)\s+(.*)$/s.exec(line) ?? [];
    if (thread === undefined || text === undefined) return;
    if (text.endsWith("<unfinished ...>")) {
      const first = text.slice(0, -"<unfinished ...>".length);
      this.unfinished.set(thread, first);
      yield* this.begin(first);
      return;
    }
    const resumed = /^<\.\.\. (\w+) resumed>/.exec(text);
    if (resumed !== null) {
      const whole = (this.unfinished.get(thread) ?? "") + text.slice(resumed[0].length);
      this.unfinished.delete(thread);
      yield* this.finish(whole);
      return;
    }
    yield* this.begin(text);
    yield* this.finish(text);
  }

  private *begin(text: string): Generator<DiskCall> {
    const call = text.slice(0, text.indexOf("("));
    if (call !== "pwrite64" && call !== "write") return;
    const fd = /^\w+\((\d+)/.exec(text)?.[1];
    const path = this.paths.get(Number(fd));
    if (path === undefined) return;
    const bytes = bytesOf(text);
    if (call === "write") yield { kind: "append", path, bytes };
    else yield { kind: "write", path, at: Number(/", \d+, (\d+)/.exec(text)![1]), bytes };
  }

  private *finish(text: string): Generator<DiskCall> {
    const call = text.slice(0, text.indexOf("("));
    const answer = Number(/\)\s+= (-?\d+)[^"]*$/.exec(text)?.[1] ?? -1);
    if (answer < 0) return;
    const [first, second] = [...text.matchAll(/"((?:\\x[0-9a-f]{2})*)"/g)].map(([, hex]) => textOf(hex!));
    const fd = Number(/^\w+\((\d+)/.exec(text)?.[1] ?? -1);
    const path = this.paths.get(fd);
    switch (call) {
      case "open":
      case "openat":
        this.paths.delete(answer);
        if (first === undefined || !this.isOurs(first)) return;
        this.paths.set(answer, first);
        yield { kind: "open", path: first, isNew: text.includes("O_CREAT"), isTruncated: text.includes("O_TRUNC") };
        return;
      case "close":
        this.paths.delete(fd);
        return;
      case "fsync":
      case "fdatasync":
        if (path !== undefined) yield { kind: "sync", path };
        return;
      case "ftruncate":
        if (path !== undefined) yield { kind: "truncate", path, size: Number(/, (\d+)\)/.exec(text)![1]) };
        return;
      case "writev":
      case "pwritev":
        // Silence here would be a disk that remembers less than was written.
        if (path !== undefined) throw new Error(`${call} on ${path} is not understood by the power-loss replay`);
        return;
      case "unlink":
      case "unlinkat":
        if (first !== undefined && this.isOurs(first)) yield { kind: "unlink", path: first };
        return;
      case "rename":
      case "renameat":
      case "renameat2":
        if (first !== undefined && second !== undefined && this.isOurs(first)) {
          yield { kind: "rename", from: first, to: second };
        }
    }
  }
}

function bytesOf(text: string): Buffer {
  const from = text.indexOf('"') + 1;
  const to = text.lastIndexOf('"');
  if (text.startsWith("...", to + 1)) throw new Error("strace cut a write short: its -s is too small");
  return Buffer.from(text.slice(from, to).replaceAll("\\x", ""), "hex");
}

const textOf = (hex: string): string => Buffer.from(hex.replaceAll("\\x", ""), "hex").toString();
