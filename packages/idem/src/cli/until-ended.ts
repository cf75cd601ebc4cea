// Long work of a server: asked for under one id until it is over, so that a line that breaks in between costs nothing.
import { makeUlid } from "../model/ulid.ts";
import type { Answer, Asked, Body } from "../server/api/api-table.ts";
import type { Context } from "./command.ts";
import { unusable } from "./exit.ts";
import type { ServerLine } from "./server-line.ts";

type LongRoute = "POST /api/doctor" | "POST /api/backup" | "POST /api/prune/count";

export async function untilEnded<E extends LongRoute>(
  { io: { platform }, now }: Context,
  line: ServerLine,
  route: E,
  body: Omit<Body<E>, "id">,
  what: string,
): Promise<Extract<Answer<E>, { readonly state: "ended" }> & { readonly id: string }> {
  const id = makeUlid(Math.floor(now()), platform.randomBytes(10));
  for (;;) {
    const asked = { body: { ...body, id }, what } as unknown as Asked<E> & { readonly what: string };
    const answer = (await line.ask(route, asked)) as { readonly state: string } | null;
    if (answer === null) throw olderServer(line);
    if (answer.state === "ended") return { ...(answer as Extract<Answer<E>, { readonly state: "ended" }>), id };
  }
}

/** A route that is not there. */
export const olderServer = ({ where }: ServerLine) =>
  unusable(`The server at ${where} does not know how: it is an older one, or no Idem server.`);
