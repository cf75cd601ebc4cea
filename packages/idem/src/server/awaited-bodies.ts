// Bodies that were announced and are not here yet. They take no place among the requests under way: a body costs its sender nothing
// until it is sent. They are counted by what their senders have shown: strangers (webhooks before their signature is read, people who sign in),
// holders of an event key, which may be in browsers, and those with a key or session of their own. Neither takes the others' room.
import type { IncomingMessage } from "node:http";
import { BodyBudget, BodyShare } from "./body-budget.ts";
import type { ServerLimits } from "./limits.ts";
import type { Access } from "./route.ts";
import { SilentPeers } from "./silent-peers.ts";

/** Least first. */
export const trusts = ["stranger", "sender", "known"] as const;
export type Trust = (typeof trusts)[number];

/** By the credential a route asks for: who gets as far as its body has shown it. In dev nobody shows any, and the same bounds hold. */
export const trustOf: Readonly<Record<Access, Trust>> = {
  open: "stranger",
  "sign-in": "stranger",
  "event-key": "sender",
  "signing-key": "known",
  operator: "known",
};

interface Kind {
  readonly peers: SilentPeers<AwaitedBody>;
  readonly budget: BodyBudget;
  readonly msMax: number;
  /** When each began, oldest first. */
  readonly begun: Map<AwaitedBody, number>;
}

/** One request's share of the server's memory for bodies, and its place among those that are awaited. */
export class AwaitedBody extends BodyShare {
  constructor(
    private readonly incoming: IncomingMessage,
    private readonly kind: Kind,
  ) {
    super(kind.budget);
  }

  override take(bytes: number): void {
    this.kind.peers.heard(this);
    super.take(bytes);
  }

  begin(address: string, now: number): void {
    this.kind.begun.set(this, now);
    this.kind.peers.add(this, address);
  }

  end(): void {
    this.kind.begun.delete(this);
    this.kind.peers.delete(this);
  }

  /** Its room is free at once, though its request learns of it later. */
  cut(): void {
    this.end();
    this.giveBack();
    this.incoming.socket.destroy();
  }
}

export class AwaitedBodies {
  readonly #all: BodyBudget;
  readonly #kinds: Readonly<Record<Trust, Kind>>;

  constructor(limits: ServerLimits) {
    this.#all = new BodyBudget(limits.bodyBytesHeld);
    const kind = (max: number, perAddressMax: number, msMax: number, bytesMax: number): Kind => {
      const peers: SilentPeers<AwaitedBody> = new SilentPeers({ max, perAddressMax, cut: (body) => body.cut() });
      const budget = new BodyBudget(bytesMax, this.#all, (asker) => peers.cutLongest(asker as AwaitedBody));
      return { peers, budget, msMax, begun: new Map() };
    };
    const { bodies, senderBodies, strangerBodies, bodyMs } = limits;
    this.#kinds = {
      stranger: kind(
        strangerBodies,
        limits.strangerBodiesPerAddress,
        limits.strangerBodyMs,
        limits.strangerBodyBytesHeld,
      ),
      sender: kind(senderBodies, limits.senderBodiesPerAddress, bodyMs, limits.senderBodyBytesHeld),
      known: kind(bodies, bodies, bodyMs, limits.bodyBytesHeld),
    };
  }

  get bytesHeld(): number {
    return this.#all.held;
  }

  get size(): number {
    return this.#sum(({ peers }) => peers.size);
  }

  get cutCount(): number {
    return this.#sum(({ peers }) => peers.cutCount);
  }

  of(incoming: IncomingMessage, access: Access): AwaitedBody {
    return new AwaitedBody(incoming, this.#kinds[trustOf[access]]);
  }

  /** Those that come drop by drop. */
  cutSlow(now: number): void {
    for (const { begun, msMax } of Object.values(this.#kinds)) {
      for (const [body, begunAt] of begun) {
        if (begunAt > now - msMax) break;
        body.cut();
      }
    }
  }

  #sum(count: (kind: Kind) => number): number {
    return Object.values(this.#kinds).reduce((sum, kind) => sum + count(kind), 0);
  }
}
