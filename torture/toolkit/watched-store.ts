// A database and a table of keys whose every use is a place to die at. The work is left to the real ones.
import type { KeyStore } from "idem/http";
import type { Adapter, Operation, SyncAdapter } from "idem/sql";
import type { Points } from "./points.ts";

export function watchedAdapter<Tx>(adapter: Adapter<Tx>, points: Points): Adapter<Tx> {
  const committed = async <T>(work: Promise<T>): Promise<T> => {
    const value = await work;
    points.reach("commit:after");
    return value;
  };
  const watched: Adapter<Tx> = {
    ...adapter,
    perform: async (operation) => {
      const value = await adapter.perform(eachStatement(operation, points));
      points.reach("perform:after");
      return value;
    },
    wrap: (tx) => {
      const wrapped = adapter.wrap(tx);
      return { ...wrapped, perform: (operation) => wrapped.perform(eachStatement(operation, points)) };
    },
    transaction: <T>(body: (tx: Tx) => T | Promise<T>, options?: { readonly lockTimeoutMs?: number }) => {
      points.reach("begin:before");
      const ending = (value: T): T => {
        points.reach("commit:before");
        return value;
      };
      const entered = (tx: Tx): T | Promise<T> => {
        const value = body(tx);
        return value instanceof Promise ? value.then(ending) : ending(value);
      };
      return committed(adapter.transaction(entered, options));
    },
  };
  if (adapter.bodies === "async") return watched;
  const sync = adapter as SyncAdapter<Tx>;
  return {
    ...watched,
    performSync: (tx: Tx, operation: Operation<unknown>) => sync.performSync(tx, eachStatement(operation, points)),
  } as SyncAdapter<Tx>;
}

function* eachStatement<T>(operation: Operation<T>, points: Points): Operation<T> {
  let step = operation.next();
  while (!step.done) {
    points.reach("statement:before");
    try {
      const answered = yield step.value;
      points.reach("statement:after");
      step = operation.next(answered);
    } catch (error) {
      step = operation.throw(error);
    }
  }
  return step.value;
}

export function watchedKeys(keys: KeyStore, points: Points): KeyStore {
  return new Proxy(keys, {
    get: (target, name: keyof KeyStore & string) => {
      const call = target[name] as (...args: unknown[]) => Promise<unknown>;
      return async (...args: unknown[]) => {
        points.reach(`${name}:before`);
        const answer = await call.apply(target, args);
        points.reach(`${name}:after`);
        return answer;
      };
    },
  });
}
