// The process that has a file open, if it answers. One that is frozen, or whose event loop is blocked, still has its socket and its lock:
// so it is greeted before anything is asked of it, and nobody waits for that longer than seconds.
import type { Ask } from "../sdk/owner-desk.ts";
import { callOwner } from "../sdk/owner-socket.ts";
import type { Io } from "./terminal.ts";

// A healthy owner answers within milliseconds, on a loaded machine within a second.
const greetingMs = 5_000;
// Longer than any commit takes.
const answerMs = 30_000;

export type Owner =
  | { readonly kind: "none" }
  /** It has the file and does not answer. Nothing was asked of it. */
  | { readonly kind: "silent" }
  | { readonly kind: "reached"; readonly name: string; readonly ask: Ask; close(): void };

export const silentFor = `within ${greetingMs / 1_000} s`;
export const whySilent = "It is stopped (SIGSTOP, a debugger), or its event loop is blocked by work that never pauses.";
export const wakeSilent =
  "Let it go on (kill -CONT <pid>), or end it (kill -9 <pid>): what it had acknowledged is on disk, and the next process takes the file at once";

export async function greetOwner({ platform }: Pick<Io, "platform">, path: string, env: string): Promise<Owner> {
  const owner = platform.local === undefined ? null : await callOwner(platform.local, path, platform, answerMs);
  if (owner === null) return { kind: "none" };
  const { ask, close } = owner;
  const found = await new Promise<Owner>((resolve) => {
    const patience = platform.timer(greetingMs, () => resolve({ kind: "silent" }));
    const settle = (answer: Owner) => {
      patience.cancel();
      resolve(answer);
    };
    ask("hello", env, {}).then(
      ({ owner: name }) => settle({ kind: "reached", name, ask, close }),
      // It went away while it was greeted.
      () => settle({ kind: "none" }),
    );
  });
  if (found.kind !== "reached") close();
  return found;
}
