// Requests and answers of /api and /v1 as types: made of the routes themselves, so that callers over the wire (the dashboard, a client
// elsewhere) and routes cannot mean different things. Imported as types, nothing of a route and nothing of zod goes along.
import type { Route } from "../route.ts";
import type { apiRoutes } from "../routes/api-routes.ts";
import type { v1Routes } from "../routes/v1-routes.ts";

/** Those that say what they take and answer; what streams and what is spoken by apps does not, and its path is any text to the compiler. */
type Described<R = (typeof apiRoutes | typeof v1Routes)[number]> = R extends Route
  ? string extends R["path"]
    ? never
    : R
  : never;

type Types<R> = R extends { readonly types?: infer T } ? NonNullable<T> : never;

type Table = { readonly [R in Described as `${R["method"]} ${R["path"]}`]: Types<R> };

/** "GET /api/runs/:run" */
export type RouteName = keyof Table;

/** Values from the wire are the sender's: nobody changes them. */
type Fixed<T> = T extends (infer Item)[]
  ? readonly Fixed<Item>[]
  : T extends object
    ? { readonly [K in keyof T]: Fixed<T[K]> }
    : T;

export type Answer<E extends RouteName> = Fixed<Table[E]["answer"]>;
export type Query<E extends RouteName> = Fixed<Table[E]["query"]>;
export type Body<E extends RouteName> = Fixed<Table[E]["body"]>;

/** For routes asked with GET: an address in a page can lead there. */
export type ReadPath = RouteName extends infer E ? (E extends `GET ${infer Path}` ? Path : never) : never;

type ParamName<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | ParamName<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never;

/** Stands in a path in place of `:run`, not yet encoded. */
export type PathParams<Path extends string> = Readonly<Record<ParamName<Path>, string>>;

type PathOf<E extends RouteName> = E extends `${string} ${infer Path}` ? Path : never;

/** Left out where there is nothing to say, and may be left out where all of it may. */
type Part<Name extends string, T> = [keyof T] extends [never]
  ? { readonly [N in Name]?: never }
  : Record<never, never> extends T
    ? { readonly [N in Name]?: T }
    : { readonly [N in Name]: T };

/** Carried by a request to a route. */
export type Asked<E extends RouteName> = Part<"params", PathParams<PathOf<E>>> &
  Part<"query", Query<E>> &
  Part<"body", Body<E>>;
