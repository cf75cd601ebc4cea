// A Node response whose handler runs under a key. Captured where Node itself sends (`writeHead`, `write`, `end`), so that json(), send(), a
// pipe and sendFile are all the same thing, and held back until its outcome is saved: save, then send.
//
//   open ─begin─▶ held ─end─▶ ended: saved, then sent, or what somebody else recorded instead
//                  │ ├─destroy─▶ ended: saved as broken off, the connection cut
//                  │ └─text/event-stream─▶ endless: saved before it begins, then none of our business
//                  └─more than the ticket keeps─▶ passing: sent on but for its last chunk ─end─▶ ended: saved, then the last chunk
import type { ServerResponse } from "node:http";
import type { Timer } from "../../../platform/platform.ts";
import type { Captured, Finished, Ticket } from "../begin.ts";
import { essenceOf } from "../fingerprint.ts";
import type { Idempotency } from "../idempotency.ts";
import { isBodiless } from "../replay.ts";
import {
  bytesOf,
  checkHead,
  type Head,
  headersSentError,
  headOf,
  putHead,
  putStatus,
  setHead,
} from "./response-head.ts";
import { type Seat, takeSeat } from "./seat.ts";
import { type TakenMethods, takeMethods } from "./taken-methods.ts";
import { writeAnswer } from "./write-answer.ts";

/** A response that was begun, whose client has left and that nobody has written to for this long, will not be ended by anybody. */
const silenceMsMax = 60_000;

const headMethods = ["writeHead", "flushHeaders", "setHeader", "setHeaders", "appendHeader", "removeHeader"];
const bodyMethods = ["write", "end", "destroy"];

export class HeldResponse {
  /** Once the outcome is saved and what there was to send is sent. */
  readonly settled: Promise<void>;
  #settle = (): void => {};
  #phase: "open" | "held" | "passing" | "endless" | "ended" = "open";
  #head: Head;
  readonly #held: Buffer[] = [];
  #heldBytes = 0;
  #writes = 0;
  #isOver = false;
  #isBroken = false;
  #thrown: { readonly error: unknown } | null = null;
  #silence: Timer | null = null;
  #stopHearing = (): void => {};
  readonly #headBefore: Head;
  readonly #seat: Seat;
  readonly #methods: TakenMethods;

  readonly #response: ServerResponse;
  readonly #ticket: Ticket;
  readonly #keys: Pick<Idempotency, "platform" | "logger">;

  constructor(response: ServerResponse, ticket: Ticket, keys: Pick<Idempotency, "platform" | "logger">) {
    this.#response = response;
    this.#ticket = ticket;
    this.#keys = keys;
    this.settled = new Promise((resolve) => {
      this.#settle = resolve;
    });
    this.#headBefore = headOf(response);
    this.#head = this.#headBefore;
    this.#seat = takeSeat(response);
    Object.defineProperty(response, "headersSent", { configurable: true, get: () => this.isBegun });
    this.#methods = takeMethods(response, {
      writeHead: (...args) => {
        this.#refuseIfBegun("write");
        setHead(response, args);
        this.#begin();
        return response;
      },
      flushHeaders: () => this.#begin(),
      write: (chunk, encoding, callback) => this.#write(chunk, encoding, callback),
      end: (...args) => this.#end(args),
      destroy: (error) => this.#destroy(error),
      setHeader: (...args) => this.#changeHead("setHeader", "set", args),
      setHeaders: (...args) => this.#changeHead("setHeaders", "set", args),
      appendHeader: (...args) => this.#changeHead("appendHeader", "append", args),
      removeHeader: (...args) => this.#changeHead("removeHeader", "remove", args),
    });
  }

  get isBegun(): boolean {
    return this.#phase !== "open";
  }

  /** The framework caught this, and will answer it through its own error handler. */
  threw(error: unknown): void {
    this.#thrown ??= { error };
  }

  /** The handler threw, and nobody answers but this door: with an answer of its own, or by breaking off the one that was begun. */
  fail(error: unknown, answer: Captured): void {
    if (this.#phase === "held" || this.#phase === "passing") this.#destroy(error);
    if (this.#phase !== "open") return;
    // The head it meant to send does not go with a failure.
    putHead(this.#response, this.#headBefore);
    this.#phase = "ended";
    this.#head = { ...this.#headBefore, status: answer.status, message: "" };
    void this.#save(this.#ticket.fail(error, answer), () => {
      for (const [name, value] of answer.headers) this.#response.setHeader(name, value);
      this.#response.end(answer.body.kind === "whole" ? answer.body.bytes : undefined);
    });
  }

  /** Answered by somebody else before its end; what the handler still writes goes nowhere. */
  interrupt(answer: Response): void {
    if (this.#phase !== "open" && this.#phase !== "held") return;
    this.#phase = "ended";
    this.#isBroken = true;
    this.#response.on("error", () => {});
    void this.#save(Promise.resolve({ kind: "instead", response: answer }), () => {});
  }

  #begin(): void {
    if (this.isBegun) return;
    checkHead(this.#response);
    this.#head = headOf(this.#response);
    this.#phase = "held";
    this.#stopHearing = this.#seat.onGone(() => this.#watchSilence());
    const type = this.#head.headers.find(([name]) => name === "content-type")?.[1] ?? null;
    if (essenceOf(type) !== "text/event-stream") return;
    this.#phase = "endless";
    this.#keys.logger.error("idempotency: text/event-stream cannot be replayed; take the key off this route");
    void this.#save(this.#ticket.finish(this.#captured({ kind: "overflow" })), () => {
      for (const chunk of this.#held) this.#response.write(chunk);
      if (this.#isOver) this.#response.end();
      else this.#response.flushHeaders();
    });
  }

  #write(chunk: unknown, encoding: unknown, callback: unknown): unknown {
    const told = typeof encoding === "function" ? encoding : callback;
    // As Node takes what is written to a response that was destroyed: it goes nowhere, and nothing fails.
    if (this.#isBroken) {
      if (typeof told === "function") this.#keys.platform.soon(() => told(new Error("The response was destroyed")));
      return false;
    }
    // Node's own words for a write after the end.
    if (this.#phase === "ended") return this.#methods.before("write")(chunk, encoding, callback);
    const isTaken = this.#take(chunk, encoding);
    // At once, even for a chunk that is held back: a writer that waits for it would never come to `end`.
    if (typeof told === "function") this.#keys.platform.soon(() => told());
    return isTaken;
  }

  #take(chunk: unknown, encoding: unknown): boolean {
    const bytes = bytesOf(chunk, encoding);
    this.#begin();
    this.#writes++;
    if (!this.#hasBody) return true;
    this.#held.push(bytes);
    this.#heldBytes += bytes.length;
    if (this.#phase === "held" && this.#heldBytes > this.#ticket.bytesMax) {
      this.#phase = "passing";
      this.#handBack(headMethods);
    }
    return this.#phase === "passing" ? this.#sendOn() : true;
  }

  /** All but the last chunk, which may be the end: no caller has the whole of a response that is not recorded. */
  #sendOn(): boolean {
    const sent = this.#held.splice(0, this.#held.length - 1);
    // Nobody is there to be slow, and who waits for them to take more would wait for ever.
    if (this.#seat.isGone) return true;
    return sent.map((chunk) => this.#methods.before("write")(chunk)).at(-1) !== false;
  }

  #end(args: readonly unknown[]): ServerResponse {
    const response = this.#response;
    const told = args.find((arg) => typeof arg === "function") as (() => void) | undefined;
    if (told !== undefined) response.once("finish", told);
    const [chunk, encoding] = args;
    if (this.#isOver || this.#phase === "ended") return response;
    if (chunk === undefined || chunk === null || typeof chunk === "function") this.#begin();
    else this.#take(chunk, encoding);
    this.#isOver = true;
    response.finished = true;
    if (this.#phase === "endless") return response;
    const isPassing = this.#phase === "passing";
    const bytes = this.#hasBody ? Buffer.concat(this.#held) : null;
    this.#phase = "ended";
    const captured = this.#captured(isPassing ? { kind: "overflow" } : { kind: "whole", bytes });
    // A refusal that was thrown is an answer like any other; only a failure asks whether anything had happened before.
    const isFailure = this.#thrown !== null && captured.status >= 500;
    const saving = isFailure ? this.#ticket.fail(this.#thrown!.error, captured) : this.#ticket.finish(captured);
    void this.#save(saving, () => response.end(bytes ?? undefined), isPassing);
    return response;
  }

  #destroy(error: unknown): ServerResponse {
    if (this.#phase === "ended" || this.#phase === "endless") this.#seat.cut();
    else {
      const isPassing = this.#phase === "passing";
      this.#phase = "ended";
      this.#isBroken = true;
      const reason = error ?? new Error("The response was destroyed before its end");
      const body: Captured["body"] = { kind: "aborted", error: reason };
      void this.#save(this.#ticket.finish(this.#captured(body)), () => this.#seat.cut(), isPassing);
    }
    return this.#response;
  }

  async #save(saving: Promise<Finished>, send: () => void, isPassing = false): Promise<void> {
    const response = this.#response;
    try {
      const finished = await saving;
      const isThere = this.#handBack([...headMethods, ...bodyMethods]);
      if (!isThere) {
        // A pipeline or a log that waits for the response's end hears now that there will be none.
        response.destroyed = true;
        response.emit("close");
      } else if (finished.kind === "send") {
        if (!isPassing) for (const [name, value] of finished.headers) response.setHeader(name, value);
        send();
      } else if (isPassing) {
        this.#seat.cut();
      } else {
        putHead(response, this.#headBefore);
        await writeAnswer(response, finished.response);
      }
    } catch (error) {
      // The outcome is saved, or the ticket has said why not; only the sending failed, and a retry gets the outcome.
      this.#keys.logger.error("idempotency: a response could not be sent", error);
      this.#seat.cut();
    } finally {
      this.#stopHearing();
      this.#silence?.cancel();
      this.#settle();
    }
  }

  /** Gives the response its connection and the named methods again, its head as the handler left it. */
  #handBack(names: readonly string[]): boolean {
    const response = this.#response;
    delete (response as { headersSent?: boolean }).headersSent;
    this.#methods.putBack(...names);
    if (!response.headersSent) {
      putStatus(response, this.#head);
    }
    const isThere = this.#seat.giveBack();
    // `end` is still to come; where nobody is left to send it to, it has been.
    if (isThere) response.finished = false;
    return isThere;
  }

  #watchSilence(): void {
    const seen = this.#writes;
    if (this.#phase !== "held" && this.#phase !== "passing") return;
    // For a writer that waits for the client to take more.
    if (this.#phase === "passing") this.#response.emit("drain");
    this.#silence = this.#keys.platform.timer(silenceMsMax, () => {
      if (this.#writes !== seen) this.#watchSilence();
      else if (this.#phase === "held" || this.#phase === "passing") {
        this.#destroy(new Error("The client left, and nobody ended the response"));
      }
    });
  }

  #changeHead(method: string, verb: string, args: readonly unknown[]): unknown {
    this.#refuseIfBegun(verb);
    return this.#methods.before(method)(...args);
  }

  #refuseIfBegun(verb: string): void {
    if (this.isBegun) throw headersSentError(verb);
  }

  get #hasBody(): boolean {
    return this.#response.req.method !== "HEAD" && !isBodiless(this.#head.status);
  }

  #captured = (body: Captured["body"]): Captured => ({ status: this.#head.status, headers: this.#head.headers, body });
}
