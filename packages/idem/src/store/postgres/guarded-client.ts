// The client that a body of `step.transaction` is given: `pg`'s own, for as long as the body lasts, and without the words that would end
// the transaction under it.
import type { PoolClient } from "pg";
import { errors } from "../../model/errors.ts";
import type { TransactionClient } from "../transactional.ts";

// The ones that people write. What slips through, behind a comment say, is found before anything is recorded.
const endsTransaction =
  /^[\s;]*(begin|start\s+transaction|commit|end|abort|rollback(?!\s+((work|transaction)\s+)?to\b)|prepare\s+transaction)\b/i;

/** What a session is made and ended with; it is the engine's. */
const ofSession: ReadonlySet<PropertyKey> = new Set(["connect", "end", "release"]);

export const endedByHand =
  "its body ended the transaction it was given; throw to undo it, return to commit it, and use a savepoint for a part of it";

export interface GuardedClient {
  readonly tx: TransactionClient;
  /** From here on nothing more is sent through it. */
  close(): void;
}

export function guardClient(client: PoolClient): GuardedClient {
  let isOpen = true;
  const refuse = (why: string) => errors.TRANSACTION_MISUSED({ why });
  const query = (...args: unknown[]): unknown => {
    if (!isOpen) return Promise.reject(refuse("its client was used after the body had ended"));
    if (endsTransaction.test(textOf(args[0]))) return Promise.reject(refuse(endedByHand));
    return (client.query as (...args: unknown[]) => unknown).apply(client, args);
  };
  const tx = new Proxy(client, {
    get(target, name) {
      if (name === "query") return query;
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      return (...args: unknown[]): unknown => {
        if (ofSession.has(name)) throw refuse(`its body called ${String(name)}() of a session that is not its own`);
        if (!isOpen) throw refuse("its client was used after the body had ended");
        return value.apply(target, args);
      };
    },
  });
  return {
    tx,
    close: () => {
      isOpen = false;
    },
  };
}

/** Of a text, a config, or something that submits itself, such as a cursor. */
function textOf(query: unknown): string {
  if (typeof query === "string") return query;
  const { text } = (query ?? {}) as { text?: unknown };
  return typeof text === "string" ? text : "";
}
