// A server of several, as after a failover: sessions go to the first host that answers and fits, and stay with it until one of them is
// lost. Then it is looked again: the first may be back, as one that can only be read.
//
//   none chosen ──a session is wanted──▶ each asked in turn ──fits──▶ chosen ──a session is lost, or refused to write──▶ none chosen
//                                          └──none──▶ told, with what each of them said; asked again with the next session
import type { Host } from "./address.ts";
import { faultOf } from "./faults.ts";

const isPassing = (error: { readonly code?: unknown }): boolean =>
  error.code !== "ENOTFOUND" && faultOf(error) === "unknown";

/** Throws why a host does not fit. */
export type AskHost = (host: Host) => Promise<void>;

export class Hosts {
  private chosen: Promise<Host> | null = null;

  constructor(
    private readonly hosts: readonly Host[],
    private readonly ask: AskHost,
  ) {}

  /** Asked for by many at once, it is looked once. */
  choose(): Promise<Host> {
    if (this.chosen !== null) return this.chosen;
    const looking = this.look();
    this.chosen = looking;
    looking.catch(() => {
      if (this.chosen === looking) this.chosen = null;
    });
    return looking;
  }

  doubt(): void {
    this.chosen = null;
  }

  private async look(): Promise<Host> {
    const refusals: { readonly host: Host; readonly error: { message?: unknown; code?: unknown } }[] = [];
    for (const host of this.hosts) {
      try {
        await this.ask(host);
        return host;
      } catch (error) {
        refusals.push({ host, error: error as object });
      }
    }
    const told = refusals.map(
      ({ host, error }) => `${host.host}${host.port === null ? "" : `:${host.port}`}: ${error.message || error.code}`,
    );
    // One that may be ready in a moment counts, whatever the others said: the name of a host that is down may be unknown, too. If there is
    // none, what the last one said counts: a password that is wrong is wrong at each of them.
    const counts = refusals.find(({ error }) => isPassing(error)) ?? refusals.at(-1)!;
    const { code } = counts.error;
    throw Object.assign(new Error(`none of its hosts fits: ${told.join("; ")}`), { code });
  }
}
