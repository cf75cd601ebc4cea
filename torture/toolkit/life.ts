// One life of the shop's process, from its start to its kill, as its clients see it.
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { program } from "../engine.ts";
import type { Death } from "./points.ts";
import type { Mode } from "./shop.ts";
import type { ShopPlace } from "./stores.ts";

export interface Ask {
  readonly mode: Mode;
  /** The key is the order's, too: one order, one key. */
  readonly order: string;
  readonly death?: Death;
}

export type Told =
  | { readonly kind: "answer"; readonly status: number; readonly body: any; readonly isReplay: boolean }
  /** The connection broke off: the client does not know what became of it. */
  | { readonly kind: "nothing" };

export const requestOf = (origin: string, { mode, order, death }: Ask): Request =>
  new Request(`${origin}/${mode}`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "idempotency-key": `key-${order}`,
      ...(death === undefined ? {} : { "x-death": JSON.stringify(death) }),
    },
    body: JSON.stringify({ order }),
  });

export async function toldBy(response: Response): Promise<Told> {
  const isReplay = response.headers.get("idempotent-replayed") === "true";
  const text = await response.text();
  return { kind: "answer", status: response.status, body: text === "" ? null : JSON.parse(text), isReplay };
}

export class Life {
  private constructor(
    private readonly child: ChildProcess,
    private readonly origin: string,
  ) {}

  static async start(place: ShopPlace & { readonly serves?: "hooks" }): Promise<Life> {
    const child = fork(program("toolkit/victim"), [JSON.stringify(place)]);
    const died = once(child, "exit").then(([code, signal]) => {
      throw new Error(`The shop ended before it listened: ${signal ?? code}`);
    });
    died.catch(() => {});
    const [port] = await Promise.race([once(child, "message"), died]);
    return new Life(child, `http://127.0.0.1:${port}`);
  }

  ask(ask: Ask): Promise<Told> {
    return this.send(requestOf(this.origin, ask));
  }

  /** To a route that is no shop's, perhaps to die there. */
  post(path: string, { death, ...init }: RequestInit & { readonly death?: Death } = {}): Promise<Told> {
    const headers = new Headers(init.headers);
    if (death !== undefined) headers.set("x-death", JSON.stringify(death));
    return this.send(new Request(`${this.origin}${path}`, { ...init, method: "POST", headers }));
  }

  private async send(request: Request): Promise<Told> {
    let response: Response;
    try {
      response = await fetch(request);
    } catch {
      return { kind: "nothing" };
    }
    return toldBy(response);
  }

  /** Resolves with the signal it died of. */
  async died(): Promise<NodeJS.Signals | null> {
    if (this.child.exitCode === null && this.child.signalCode === null) await once(this.child, "exit");
    return this.child.signalCode;
  }

  async end(): Promise<void> {
    this.child.kill("SIGKILL");
    await this.died();
  }
}
