// The store of a server elsewhere, for reading: the store's own reads, carried by POST /api/store/:read. So a command says there what it says beside the store itself.
import { errors } from "../model/errors.ts";
import { payloadRowsMax, type StoreRead } from "../server/api/store-read-bounds.ts";
import type { StoreReads } from "../store/reads.ts";
import type { Store } from "../store/store.ts";
import { usage } from "./exit.ts";
import type { Opened } from "./open-reading.ts";
import type { ServerLine } from "./server-line.ts";
import type { ToolReads } from "./tool-reads.ts";

export function openRemoteReading(line: ServerLine): Opened {
  const carry = async (read: string, input: readonly unknown[]): Promise<unknown> => {
    const asked = { params: { read }, body: { input: [...input] }, what: "The store" };
    const found = await line.ask("POST /api/store/:read", asked);
    if (found === null) {
      throw errors.SERVER_REFUSED({
        what: "The store",
        server: line.where,
        status: 404,
        why: "it knows no command line from elsewhere: it is no Idem server, or an older one",
      });
    }
    return found.answer;
  };
  const reads = new Proxy({} as Record<string, unknown>, {
    get: (made, name: string) => {
      made[name] ??= async (...given: unknown[]) => {
        // The server itself looks whose secrets are sealed.
        if (name === "settingEnvironments") return [];
        const input = withoutLastAbsent(withoutEnvironment.includes(name) ? given : given.slice(1));
        return pagedReads.includes(name)
          ? inPages((each) => carry(name, [each]), input[0] as PagedFilter)
          : carry(name, input);
      };
      return made[name];
    },
  });
  // Asked for nothing else: it is not started, and what a command writes goes by the routes (reach-server.ts).
  const store = { shared: null, reads: reads as unknown as StoreReads, close: async () => {} } as unknown as Store;
  return { store, place: { kind: "elsewhere", where: line.where }, rows: rowsOver(store.reads) };
}

const withoutEnvironment: readonly string[] = ["now", "workers"] satisfies readonly StoreRead[];

/** JSON has no word for an argument that was left out. */
const withoutLastAbsent = (input: readonly unknown[]): readonly unknown[] =>
  input.at(-1) === undefined && input.length > 0 ? withoutLastAbsent(input.slice(0, -1)) : input;

interface PagedFilter {
  readonly limit: number;
  readonly before?: string;
}

/** Those whose rows come with payloads, newest first: the server gives few at a time. */
const pagedReads: readonly string[] = ["runs", "events"] satisfies readonly StoreRead[];

async function inPages(read: (filter: PagedFilter) => Promise<unknown>, filter: PagedFilter): Promise<unknown[]> {
  const found: { readonly id: string }[] = [];
  for (let { before } = filter; ; before = found.at(-1)!.id) {
    const limit = Math.min(payloadRowsMax, filter.limit - found.length);
    const page = (await read({ ...filter, ...(before === undefined ? {} : { before }), limit })) as typeof found;
    found.push(...page);
    if (page.length < limit || found.length === filter.limit) return found;
  }
}

// No id is above it.
const lastId = "7".padEnd(26, "Z");

/** Of what only tools ask, events as they arrive; history row by row is read beside the store. */
const rowsOver = (reads: StoreReads): ToolReads =>
  new Proxy({} as ToolReads, {
    get: (_, name) => {
      if (name !== "eventsAfter") {
        throw usage(
          "This reads history row by row, which is not carried over HTTP: run it beside the store, with --store.",
        );
      }
      return async (env: string, after: string, limit: number) =>
        (await reads.arrivals(env, { after, before: lastId, limit })).rows.map(({ event }) => event);
    },
  });
