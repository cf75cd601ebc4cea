// One request on its line, from its first byte to its answer. Whatever happens in between, what it took of the server's
// bounds is given back, and what nobody expected leaves the house as an id.
import type { IncomingMessage, ServerResponse } from "node:http";
import { errors, IdemError } from "../model/errors.ts";
import { chargeCost } from "../model/metered-cost.ts";
import type { Turns } from "../model/turns.ts";
import type { Encoding } from "../protocol/content-coding.ts";
import { statusOf } from "../protocol/problem.ts";
import {
  type AnswerOptions,
  type Asked,
  answerRequest,
  errorAnswer,
  findRoute,
  NodeRequest,
  splitTarget,
} from "./answer-request.ts";
import type { AwaitedBodies, AwaitedBody } from "./awaited-bodies.ts";
import { trustOf } from "./awaited-bodies.ts";
import type { BrowserGuard } from "./browser-guard.ts";
import { unknownPage } from "./dashboard/serve-dashboard.ts";
import type { ServerLimits } from "./limits.ts";
import type { Lines } from "./lines.ts";
import { dataHeaders } from "./people/safe-headers.ts";
import { bodyAtHand, CallerGone, readBody } from "./read-body.ts";
import type { Route, RouteAnswer } from "./route.ts";
import type { Router } from "./router.ts";
import { isStream, type PlainBody, sendPlain, sendStream } from "./send-answer.ts";
import type { World } from "./world.ts";

/** Shared by all requests: the table, the bounds, and how much of them is taken. */
export interface Traffic {
  readonly world: World;
  readonly router: Router<Route>;
  readonly guard: BrowserGuard;
  readonly limits: ServerLimits;
  readonly lines: Lines;
  readonly bodies: AwaitedBodies;
  /** Large bodies are made something of one at a time, and others get the loop in between. */
  readonly reading: Turns;
  inFlight: number;
  /** Of them, those whose senders have shown nothing. */
  strangers: number;
  /** Beside them, those that are answered however many others there are. */
  vital: number;
  waiting: number;
  /** Counted apart: those that wait with a token, or with nothing. */
  waitingStrangers: number;
  /** Both, by caller or token. */
  readonly waiters: Map<string, number>;
  refusedBusy: number;
  isStopping: boolean;
}

type Headers = Record<string, string>;

export class IncomingRequest implements AnswerOptions {
  private route: Route | null = null;
  private request: NodeRequest | null = null;
  /** For browsers: what an answer for people may do, and which pages of other origins may read it. */
  private pageHeaders: Headers | null = null;
  /** Among whom it is counted. */
  private place: "nowhere" | "in-flight" | "stranger" | "vital" | "waiting" | "stranger-waiting" = "nowhere";
  private body: AwaitedBody | null = null;
  private isAdmitted = false;
  /** By which it is counted while it waits. */
  private waiter: string | null = null;

  constructor(
    private readonly incoming: IncomingMessage,
    private readonly response: ServerResponse,
    private readonly traffic: Traffic,
    /** Set while the caller waits to be asked for its body. */
    private invitation: (() => void) | null,
  ) {
    // Without a listener an error on a line that was cut would end the process.
    response.on("error", ignore);
  }

  get world(): World {
    return this.traffic.world;
  }

  get guard(): BrowserGuard {
    return this.traffic.guard;
  }

  async serve(): Promise<void> {
    try {
      await this.answer();
    } catch (error) {
      this.fail(error);
    } finally {
      this.request?.answered();
      this.body?.giveBack();
      this.leavePlace();
    }
  }

  private async answer(): Promise<void> {
    const { traffic, incoming } = this;
    const { guard } = traffic;
    const method = incoming.method!;
    const { path, search } = splitTarget(incoming.url!);
    if (traffic.isStopping) throw errors.SERVER_BUSY({ why: "it is stopping" });
    guard.checkHost(incoming.headers as NodeRequest["headers"]);
    const found = findRoute(traffic.router, method, path);
    const { route } = found;
    this.route = route;
    const origin = guard.readableBy(route.access, incoming.headers as NodeRequest["headers"]);
    if (route.errors === "problem") this.pageHeaders = { ...dataHeaders };
    if (origin !== null)
      this.pageHeaders = { ...this.pageHeaders, "access-control-allow-origin": origin, vary: "origin" };
    if ("allowed" in found) return this.tellMethods(found);
    const request = new NodeRequest(incoming, method, path, search, found.params);
    this.request = request;
    if (route.waits === true) this.waitApart();
    else this.takePlace(route);
    this.body = traffic.bodies.of(incoming, route.access);
    const answer = await answerRequest(route, request, incoming, this);
    if (!isStream(answer.body)) return this.send(answer, answer.body);
    try {
      this.waitApart();
      await sendStream(this.response, answer, answer.body, this.pageHeaders);
    } finally {
      request.streamed();
    }
  }

  /** One of the places of those who want an answer now; strangers have some of them. */
  private takePlace(route: Route): void {
    const { traffic } = this;
    const { requestsInFlight, strangersInFlight } = traffic.limits;
    const place = route.isVital === true ? "vital" : trustOf[route.access] === "stranger" ? "stranger" : "in-flight";
    // Looks at /health are never refused: those that would wait among too many are answered from the last one (store-health.ts).
    const isFull =
      place !== "vital" &&
      (traffic.inFlight >= requestsInFlight || (place === "stranger" && traffic.strangers >= strangersInFlight));
    if (isFull) throw errors.SERVER_BUSY({ why: "too many are under way" });
    this.place = place;
    if (place === "vital") traffic.vital++;
    else traffic.inFlight++;
    if (place === "stranger") traffic.strangers++;
  }

  private leavePlace(): void {
    const { traffic, place } = this;
    if (place === "waiting") traffic.waiting--;
    if (place === "stranger-waiting") traffic.waitingStrangers--;
    this.leaveWaiters();
    if (place === "vital") traffic.vital--;
    if (place === "stranger") traffic.strangers--;
    if (place === "stranger" || place === "in-flight") traffic.inFlight--;
    this.place = "nowhere";
  }

  invite(): void {
    this.invitation?.();
    this.invitation = null;
  }

  admitted(): void {
    this.isAdmitted = true;
    if (this.place === "waiting") this.countWaiter();
    this.traffic.lines.show(this.incoming.socket, trustOf[this.route!.access]);
  }

  async takeBody(encoding: Encoding | null, bytesMax: number): Promise<Buffer> {
    const { traffic, incoming } = this;
    // Node says that a request is there before it looks behind the head.
    await null;
    const here = encoding === null ? bodyAtHand(incoming, this.body!) : null;
    const bytes = here ?? (await this.awaitBody(encoding, bytesMax));
    const turn = bytes.length < traffic.limits.largeBodyBytes ? undefined : traffic.reading.next(0);
    if (turn !== undefined) {
      if (!this.isWaiting) this.leavePlace();
      await turn;
    }
    chargeCost(bytes.length * takingCost);
    if (this.place === "nowhere") this.takePlace(this.route!);
    return bytes;
  }

  /** Its place is free until the body is here. */
  private async awaitBody(encoding: Encoding | null, bytesMax: number): Promise<Buffer> {
    const { traffic, incoming } = this;
    const body = this.body!;
    if (!this.isWaiting) this.leavePlace();
    body.begin(traffic.lines.addressOf(incoming.socket), traffic.world.platform.monoMs());
    try {
      return await readBody(incoming, encoding, bytesMax, body);
    } finally {
      body.end();
    }
  }

  /** It will take its time, and must not take the place of those who want an answer now. */
  private waitApart(): void {
    const { traffic, incoming } = this;
    if (this.isWaiting) return;
    const isStranger = trustOf[this.route!.access] === "stranger";
    const { waitingRequests, waitingStrangers } = traffic.limits;
    const isFull = isStranger ? traffic.waitingStrangers >= waitingStrangers : traffic.waiting >= waitingRequests;
    if (isFull) throw errors.SERVER_BUSY({ why: "too many wait" });
    this.leavePlace();
    this.place = isStranger ? "stranger-waiting" : "waiting";
    if (isStranger) traffic.waitingStrangers++;
    else traffic.waiting++;
    // Who shows a credential in a header is known once it was looked at.
    if (isStranger || this.isAdmitted) this.countWaiter();
    // Node goes back to the usual time with the line's next request.
    incoming.socket.setTimeout(traffic.limits.silentWaitingMs);
  }

  private get isWaiting(): boolean {
    return this.place === "waiting" || this.place === "stranger-waiting";
  }

  /** One caller, or one token, has a part of the places. Throws SERVER_BUSY. */
  private countWaiter(): void {
    const { traffic, request, place } = this;
    const { waitingPerPrincipal, waitingPerToken } = traffic.limits;
    const isStranger = place === "stranger-waiting";
    const waiter = isStranger
      ? `token ${request!.query.get("token") ?? ""}`
      : `caller ${request!.env} ${request!.actor.name}`;
    const count = traffic.waiters.get(waiter) ?? 0;
    const max = isStranger ? waitingPerToken : waitingPerPrincipal;
    if (count >= max)
      throw errors.SERVER_BUSY({ why: `${max} requests of this ${isStranger ? "token" : "caller"} wait` });
    traffic.waiters.set(waiter, count + 1);
    this.waiter = waiter;
  }

  private leaveWaiters(): void {
    const { traffic, waiter } = this;
    if (waiter === null) return;
    this.waiter = null;
    const left = traffic.waiters.get(waiter)! - 1;
    if (left === 0) traffic.waiters.delete(waiter);
    else traffic.waiters.set(waiter, left);
  }

  /** OPTIONS: for people, and for browsers that ask before they let a page send something that is not a plain form. */
  private tellMethods({ allowed }: Asked): void {
    const headers: Headers = { allow: allowed };
    if (this.pageHeaders?.["access-control-allow-origin"] !== undefined) {
      const wanted = String(this.incoming.headers["access-control-request-headers"] ?? "");
      headers["access-control-allow-methods"] = allowed;
      if (/^[\w, -]{1,500}$/.test(wanted)) headers["access-control-allow-headers"] = wanted;
      headers["access-control-max-age"] = "600";
    }
    this.send({ status: 204, headers, body: null }, null);
  }

  private send(answer: RouteAnswer, body: PlainBody): void {
    const { response, incoming } = this;
    if (response.destroyed || response.headersSent) return;
    // A caller that still waits to be invited sends nothing now; what it sends next would be taken for its body.
    if (this.traffic.isStopping || this.invitation !== null) response.setHeader("connection", "close");
    sendPlain(response, answer, body, this.pageHeaders);
    if (!incoming.complete) this.linger();
  }

  /** Throws away what still comes, so that the answer is read, but not for long. */
  private linger(): void {
    const { incoming, traffic } = this;
    incoming.resume();
    const { platform } = traffic.world;
    const cut = platform.timer(traffic.limits.lingerMs, () => incoming.socket.destroy(), { background: true });
    const stop = () => cut.cancel();
    incoming.once("end", stop);
    incoming.once("close", stop);
  }

  /** Asked by a page's own code: it has a form for signing in, and the browser's dialog would stand before it. */
  private get isScript(): boolean {
    if (this.route?.access === "sign-in") return true;
    const { headers } = this.incoming;
    // Node's own fetch says the mode as well, but only browsers say the site.
    return headers["sec-fetch-site"] !== undefined && headers["sec-fetch-mode"] !== "navigate";
  }

  private pageOf(error: IdemError): RouteAnswer | null {
    const { method = "", url = "", headers } = this.incoming;
    return unknownPage({ method, path: url.split("?", 1)[0]!, accept: headers.accept }, error);
  }

  private fail(error: unknown): void {
    const { response, route, traffic } = this;
    if (error instanceof CallerGone || response.destroyed) return;
    const known = error instanceof IdemError ? error : unexpected(error, this.incoming, route, traffic.world);
    if (response.headersSent) {
      // A stream failed half-way: ending it properly would tell its reader that it has everything.
      response.destroy();
      return;
    }
    if (statusOf(known.code) === 503) traffic.refusedBusy++;
    const page = route === null ? this.pageOf(known) : null;
    if (page !== null) {
      this.send(page, page.body as PlainBody);
      return;
    }
    // Scripts for another API read no errors of the SDK's form; a problem explains itself.
    const isForTools = known.code === "API_UNSUPPORTED" || /^\/(api|docs)\b/.test(this.incoming.url!);
    const shape = route?.errors ?? (isForTools ? "problem" : "wire");
    if (shape === "problem") this.pageHeaders = { ...dataHeaders, ...this.pageHeaders };
    const answer = errorAnswer(known, shape, route?.access === "event-key");
    this.send(this.isScript && answer.status === 401 ? withoutDialog(answer) : answer, answer.body as PlainBody);
  }
}

const ignore = (): void => {};

/** Of each byte of a body, for whatever its route makes of it: 200 events in 50 KB take some 2 ms until they are handed to the store. */
const takingCost = 1;

/** A scheme no browser knows, where RFC 9110 wants one. */
const withoutDialog = (answer: RouteAnswer): RouteAnswer => ({
  ...answer,
  headers: { ...answer.headers, "www-authenticate": 'Session realm="idem"' },
});

/** The caller learns an id, the log learns the rest. Paths are not logged: they carry event keys. */
export function unexpected(
  error: unknown,
  incoming: { readonly method?: string | undefined },
  route: { readonly path: string } | null,
  { platform, logger }: Pick<World, "platform" | "logger">,
): IdemError {
  const id = Buffer.from(platform.randomBytes(6)).toString("hex");
  logger.error(`idem: request ${id} (${incoming.method} ${route?.path ?? "unknown route"}) failed`, error);
  return errors.SERVER_FAILED({ id });
}
