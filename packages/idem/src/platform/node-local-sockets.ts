// Unix domain sockets beside a file (a named pipe on Windows): for the same user of the same machine, never TCP.
import { createHash } from "node:crypto";
import { chmodSync, lstatSync, rmSync, statSync } from "node:fs";
import { createServer, connect as openConnection, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isMainThread } from "node:worker_threads";
import { realFile } from "./node-files.ts";
import type { LocalConnection, LocalSockets } from "./platform.ts";

// sun_path holds 104 bytes on macOS and 108 on Linux, the closing zero included; longer names are cut off in silence.
const nameBytesMax = 103;
// Command lines are few and short-lived; more at once is a mistake somewhere.
const connectionsMax = 32;

const isWindows = process.platform === "win32";

/** The same name for the same file, whatever relative or linked path leads to it. */
export function localSocketName(file: string): string {
  const name = `${realFile(file)}-sock`;
  const hash = createHash("sha256").update(name).digest("hex").slice(0, 32);
  if (isWindows) return `\\\\.\\pipe\\idem-${hash}`;
  return Buffer.byteLength(name) <= nameBytesMax ? name : join(tmpdir(), `idem-${hash}.sock`);
}

function connectionOver(socket: Socket, close: () => void): LocalConnection {
  socket.setEncoding("utf8");
  // A peer that went away closes the connection, which is all there is to know about it.
  socket.on("error", () => socket.destroy());
  return {
    write: (text) => {
      if (!socket.destroyed) socket.write(text);
    },
    onText: (take) => {
      socket.on("data", (text) => take(String(text)));
    },
    onClose: (take) => {
      socket.on("close", take);
    },
    close,
  };
}

/** In a shared temporary folder anybody may put a socket of that name; only this user's and the file's owner's are used. */
function isOwners(name: string, file: string): boolean {
  if (isWindows || process.getuid === undefined) return true;
  const socket = lstatSync(name, { throwIfNoEntry: false });
  if (socket?.isSocket() !== true) return false;
  return socket.uid === process.getuid() || socket.uid === statSync(file, { throwIfNoEntry: false })?.uid;
}

/**
 * A socket is bound, and can be reached, before listen returns: with the process's own umask others could open it until its mode is changed. The mask is
 * the process's, so it is as it was before anything else runs here. A thread cannot change it; there the mode is changed right after.
 */
function privately(bind: () => void): void {
  const before = isWindows || !isMainThread ? null : process.umask(0o077);
  try {
    bind();
  } finally {
    if (before !== null) process.umask(before);
  }
}

export const nodeLocalSockets: LocalSockets = {
  listen: async (file, onConnection) => {
    const name = localSocketName(file);
    if (!isWindows) rmSync(name, { force: true });
    const open = new Set<Socket>();
    const server = createServer((socket) => {
      open.add(socket);
      socket.on("close", () => open.delete(socket));
      socket.unref();
      // The last words still arrive. A socket that its peer never closes keeps no process alive.
      onConnection(connectionOver(socket, () => socket.end()));
    });
    server.maxConnections = connectionsMax;
    await new Promise<void>((listening, refused) => {
      server.once("error", refused);
      privately(() => server.listen({ path: name, exclusive: true }, listening));
    });
    server.on("error", () => server.close());
    if (!isWindows) chmodSync(name, 0o600);
    server.unref();
    return {
      close: () =>
        new Promise((closed) => {
          server.close(() => closed());
          for (const socket of open) socket.destroy();
        }),
    };
  },
  connect: async (file) => {
    const name = localSocketName(file);
    if (!isOwners(name, file)) return null;
    const socket = openConnection(name);
    try {
      await new Promise<void>((connected, refused) => {
        socket.once("connect", connected);
        socket.once("error", refused);
      });
    } catch {
      // No such socket, or one whose owner is dead.
      socket.destroy();
      return null;
    }
    // The caller has its answer or waits no more: a listener that is frozen would never close its end.
    return connectionOver(socket, () => socket.destroy());
  },
};
