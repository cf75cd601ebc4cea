// This package's own command, in a process of its own beside the one that asks: what reads a whole store must neither hold up its event loop nor open a second handle
// on a file it owns (closing one would drop its lock).
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { closeSync, createReadStream, openSync, readdirSync, readSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { fileBeside } from "./package-files.ts";

export interface OwnCommand {
  readonly args: readonly string[];
  /** Beside what this process has; addresses and keys go this way, for a command line is seen by every user of the machine. */
  readonly env: Readonly<Record<string, string>>;
  /** Bound of its output on either stream; with more it is ended. */
  readonly bytesMax: number;
  readonly signal: AbortSignal;
}

export interface OwnCommandEnd {
  /** Null where it was ended. */
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export function runOwnCommand({ args, env, bytesMax, signal }: OwnCommand): Promise<OwnCommandEnd> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [fileURLToPath(fileBeside("../../bin/idem.mjs")), ...args], {
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
      windowsHide: true,
      signal,
      killSignal: "SIGKILL",
    });
    let left = bytesMax;
    const collect = (stream: NodeJS.ReadableStream): Buffer[] => {
      const parts: Buffer[] = [];
      stream.on("data", (part: Buffer) => {
        left -= part.length;
        if (left < 0) child.kill("SIGKILL");
        else parts.push(part);
      });
      return parts;
    };
    const [out, err] = [collect(child.stdout), collect(child.stderr)];
    child.once("error", reject);
    child.once("close", (code) =>
      resolve({ code, out: Buffer.concat(out).toString("utf8"), err: Buffer.concat(err).toString("utf8") }),
    );
  });
}

/** Null where there is none. */
export const fileBytes = (path: string): number | null => statSync(path, { throwIfNoEntry: false })?.size ?? null;

export function readFilePart(path: string, offset: number, bytes: number): Buffer {
  const file = openSync(path, "r");
  try {
    const part = Buffer.alloc(bytes);
    return part.subarray(0, readSync(file, part, 0, bytes, offset));
  } finally {
    closeSync(file);
  }
}

export const removeFile = (path: string): void => rmSync(path, { force: true });

/** Files whose paths begin like this. */
export const filesLike = (start: string): string[] =>
  readdirSync(dirname(start))
    .filter((name) => name.startsWith(basename(start)))
    .map((name) => join(dirname(start), name));

export async function fileSha256(path: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const part of createReadStream(path)) hash.update(part as Buffer);
  return hash.digest("hex");
}
