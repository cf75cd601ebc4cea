// A round's needs of an engine, Idem among them: started on a fresh folder, one run at a time on request, gone afterwards.
import { createServer } from "node:net";

export interface Peer {
  /** Starts the run number `n`, waits for its result and returns it. Its payload is `{ n: shuffled(n) }`, its key the same number. */
  readonly oneRun: (n: number) => Promise<unknown>;
  /** Its name for readers. */
  readonly name: string;
  /** The versions of everything that takes part. */
  readonly versions: string;
  /** What a commit survives, asked of the running engine wherever it can tell. */
  readonly durability: string;
}

export type WithPeer = <T>(folder: string, body: (peer: Peer) => Promise<T>) => Promise<T>;

/** A port nobody listens on now. Another process may take it before it is used: the engine then says so, and the round fails. */
export async function freePort(): Promise<number> {
  const server = createServer();
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}
