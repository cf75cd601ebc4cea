// Common to all routes of /api: people and tools call them, schemas read the input and describe it, and an answer has its schema's type.
import { z } from "zod";
import type { Engine } from "../../engine/engine.ts";
import type { AuditAction, AuditAnswer } from "../../store/audit.ts";
import type { Actor } from "../people/actor.ts";
import { readBody, readQuery } from "../read-input.ts";
import { engineFor } from "../read-shares.ts";
import { json, type Route, type RouteAnswer, type RouteRequest } from "../route.ts";
import type { World } from "../world.ts";
import { namesOfToday, recordedNamesIn } from "./function-names.ts";

type Shape = Readonly<Record<string, z.ZodType>>;
type Read<S extends Shape> = z.output<z.ZodObject<S>>;

export interface ApiCall<Q extends Shape, B extends Shape> {
  readonly query: Read<Q>;
  readonly body: Read<B>;
  readonly params: Readonly<Record<string, string>>;
  readonly env: string;
  readonly engine: Engine;
  /** By the store's clock. */
  readonly now: number;
  readonly world: World;
  readonly headers: RouteRequest["headers"];
  readonly address: string;
  /** The caller. */
  readonly actor: Actor;
  /** Keeps that they did it; for what the store does not keep by itself. */
  audit(action: AuditAction, subject: string, reason?: string): Promise<AuditAnswer>;
  /** Aborts when the caller has gone. */
  readonly signal: AbortSignal;
}

interface ApiRoute<M extends Route["method"], P extends string, Q extends Shape, B extends Shape, A extends z.ZodType> {
  readonly method: M;
  readonly path: P;
  readonly summary: string;
  readonly tag: string;
  readonly query?: Q;
  readonly body?: B;
  readonly bodyBytesMax?: number;
  readonly access?: "operator" | "sign-in";
  readonly viewerMay?: true;
  readonly waits?: true;
  readonly answer: A;
  handle(call: ApiCall<Q, B>): Promise<z.input<A> | RawAnswer> | z.input<A> | RawAnswer;
}

/** A route that knows what it takes and answers; `api-table.ts` makes of these what the dashboard and the client go by. */
export interface DescribedRoute<M extends Route["method"], P extends string, Query, Body, Answer> extends Route {
  readonly method: M;
  readonly path: P;
  /** For the compiler; nobody reads it. */
  readonly types?: { readonly query: Query; readonly body: Body; readonly answer: Answer };
}

/** Stored text that goes out as it is, instead of a value of the schema. */
export class RawAnswer {
  constructor(readonly answer: RouteAnswer) {}
}

// Reasons, filters and edited inputs; what is larger has a route of its own with its own bound.
const bodyBytesDefault = 256 * 1024;

export function apiRoute<
  const M extends Route["method"],
  const P extends string,
  Q extends Shape = Record<never, never>,
  B extends Shape = Record<never, never>,
  A extends z.ZodType = z.ZodType,
>(route: ApiRoute<M, P, Q, B, A>): DescribedRoute<M, P, z.input<z.ZodObject<Q>>, z.input<z.ZodObject<B>>, z.output<A>> {
  const query = z.strictObject((route.query ?? {}) as Q);
  const body = z.strictObject((route.body ?? {}) as B);
  return {
    method: route.method,
    path: route.path,
    access: route.access ?? "operator",
    ...(route.viewerMay === undefined ? {} : { viewerMay: route.viewerMay }),
    ...(route.waits === undefined ? {} : { waits: route.waits }),
    bodyBytesMax: route.method === "GET" ? null : (route.bodyBytesMax ?? bodyBytesDefault),
    errors: "problem",
    about: {
      summary: route.summary,
      tag: route.tag,
      ...(route.query === undefined ? {} : { query }),
      ...(route.body === undefined ? {} : { body }),
      answer: route.answer,
    },
    handle: async (request, world) => {
      const read = {
        query: readQuery(query, request.query) as Read<Q>,
        body: (route.method === "GET" ? {} : readBody(body, request)) as Read<B>,
      };
      const engine = engineFor(request.actor, await world.engine(request.env), world);
      const { registry } = engine;
      const given = {
        query: recordedNamesIn(read.query, registry),
        body: recordedNamesIn(read.body, registry),
        params: recordedNamesIn(request.params, registry),
      };
      const { env, headers, address, actor, signal } = request;
      const audit: ApiCall<Q, B>["audit"] = (action, subject, reason = "") =>
        engine.store.audit({ env, action, subject, reason, actor: actor.name });
      const asked = { ...given, env, headers, address, actor, signal };
      const answer = await route.handle({ ...asked, engine, now: engine.now(), world, audit });
      return answer instanceof RawAnswer ? answer.answer : json(namesOfToday(answer, route.answer, registry));
    },
  };
}
