// A world of calls: a handler of the user's in processes that may die, and its callers, who come again where no answer came.
import type { CallOutcome, CallPlan, CallRecord, CallScript, SentCall } from "../calls/call-script.ts";
import { cleanSchedule, type Side } from "../schedules.ts";
import { type Answered, callHandler, type Handler, handlerIn } from "./call-handler.ts";
import { asCaller, currentCaller } from "./caller.ts";
import type { Life } from "./life.ts";
import { afterAnswer, afterSilence, waitsMs } from "./senders.ts";
import { headersOf } from "./sign-call.ts";
import { World, type WorldOptions } from "./world.ts";

export interface CallWorldOptions extends Pick<WorldOptions, "watchers" | "askHttp" | "seed"> {
  readonly script: CallScript;
  readonly plan: CallPlan;
}

/** Sends one call, as often as it takes. */
interface Sender {
  readonly name: string;
  readonly sent: SentCall;
  tries: number;
  /** Answers that promise nothing, one after the other. */
  failures: number;
  outcome: CallOutcome | null;
}

/** Timers of the callers: no process of the world owns them. */
const nobody = { isDead: false, isFrozen: false } as const;

export class CallWorld extends World {
  private readonly handlers = new Map<Life, Map<string, object>>();
  private readonly senders: Sender[] = [];
  /** Calls that are being worked on, by the process that does. */
  private readonly atWork = new Map<object, Life>();
  private readonly script: CallScript;
  private readonly plan: CallPlan;
  private writes = 0;
  private hasDied = false;
  private isOver = false;

  constructor({ script, plan, ...rest }: CallWorldOptions) {
    super({
      ...rest,
      modules: script.modules,
      env: "default",
      fn: "",
      names: [],
      tickName: "",
      event: { name: "", id: "", data: bodyOf(script.calls.first!) },
      twin: null,
      changed: Object.fromEntries(Object.entries(script.calls).map(([name, sent]) => [name, bodyOf(sent)] as const)),
      windowMs: 0,
      outageMs: 0,
      startMs: script.startMs,
      fixtures: script.fixtures,
      databases: { databases: script.databases, isSetUp: false },
      schedule: plan.adversities.length === 0 ? cleanSchedule : { id: plan.id, adversities: plan.adversities },
      onModule: (life, path, exported) => this.handlersOf(life).set(path, exported),
      isPending: () => [...this.atWork.values()].some(({ isDead, isFrozen }) => !isDead && !isFrozen),
      onStoreCall: (life, side) => this.meetWrite(life, side),
    });
    this.script = script;
    this.plan = plan;
  }

  private handlersOf(life: Life): Map<string, object> {
    const known = this.handlers.get(life) ?? new Map<string, object>();
    this.handlers.set(life, known);
    return known;
  }

  async playCalls(onLoaded: () => void): Promise<CallRecord> {
    const { arrivals } = this.plan;
    await this.openLife();
    if (arrivals.some(({ isElsewhere }) => isElsewhere)) await this.openLife();
    onLoaded();
    // From here on commits are met.
    this.target.delivered.add("");
    await this.settling.settle();
    for (const { call, afterMs, isElsewhere = false } of arrivals) {
      if (afterMs !== null) {
        await this.play();
        await this.moveTo(this.clock.monoMs() + afterMs);
      }
      const sender = { name: call, sent: this.script.calls[call]!, tries: 0, failures: 0, outcome: null };
      this.senders.push(sender);
      const [here] = this.lives;
      this.send(sender, isElsewhere || here!.isDead ? this.living : here!);
    }
    await this.play();
    this.isOver = true;
    const calls = this.senders.map((sender): CallOutcome => sender.outcome ?? this.outcomeOf(sender, null));
    const { id, dieAtWrite, diesBeforeAnswer = false } = this.plan;
    const isIdle = (dieAtWrite !== undefined || diesBeforeAnswer) && !this.hasDied;
    const record = await this.record(false, false);
    const notHappened = [...record.notHappened, ...(isIdle ? [id] : [])];
    return { ...record, schedule: id, notHappened, calls, writes: this.writes };
  }

  private send(sender: Sender, life: Life | null): void {
    if (this.isOver) return;
    sender.tries++;
    const { what } = sender.sent;
    this.say(sender.tries === 1 ? `${what} arrived` : `again: ${what}`);
    if (life === null || life.isDead || life.isFrozen) {
      this.heardNothing(sender, "nobody listens");
      return;
    }
    const work = {};
    let isHeard = false;
    const hear = (then: () => void): void => {
      this.stir();
      if (isHeard || this.isOver) return;
      isHeard = true;
      timer.cancel();
      then();
    };
    const timer = this.clock.set(
      waitsMs[this.script.sender],
      () => hear(() => this.heardNothing(sender, "its caller waited in vain")),
      nobody,
      false,
    );
    life.onDeath(() => {
      this.atWork.delete(work);
      hear(() => this.heardNothing(sender, null));
    });
    this.atWork.set(work, life);
    const run = { fn: "the handler", runId: `call-${sender.name}`, isOver: false, isCall: true };
    void asCaller({ life, run }, async () => this.enter(life, sender.sent)).then((answered) => {
      run.isOver = true;
      this.atWork.delete(work);
      this.stir();
      // Dead, nothing of it is heard; frozen, it answers when it thaws.
      void Promise.resolve(life.pass()).then(() => {
        if (isHeard) return;
        if (this.plan.diesBeforeAnswer === true && !this.hasDied) {
          this.hasDied = true;
          this.kill(life, "it had done its work, and its answer had not left");
        } else hear(() => this.answered(sender, answered));
      });
    });
  }

  private async enter(life: Life, sent: SentCall): Promise<Answered> {
    const { module, name, style } = this.script.handler;
    const exported = (path: string): object => this.handlersOf(life).get(path) ?? {};
    let handler: Handler;
    let headers: [string, string][];
    try {
      handler = handlerIn(exported(module), name, style);
      headers = await headersOf(sent, this.clock.wallMs(), exported);
    } catch (error) {
      this.unproven((error as Error).message);
      return { status: 404, isParked: true, isUnsettled: false, retryAfterMs: 0, error: "it was not called" };
    }
    return callHandler(handler, sent, headers);
  }

  private heardNothing(sender: Sender, why: string | null): void {
    if (why !== null) this.say(`${why}: ${sender.sent.what}`);
    this.comeAgain(sender, null, afterSilence(this.script.sender, sender.tries));
  }

  private answered(sender: Sender, answered: Answered): void {
    const told = answered.error ?? (answered.status === 0 ? "it returned" : String(answered.status));
    this.say(`${sender.sent.what}   → ${told}`);
    if (answered.status !== null && answered.status < 500) sender.failures = 0;
    else sender.failures++;
    const { tries, failures } = sender;
    this.comeAgain(sender, answered, afterAnswer(this.script.sender, answered, { tries, failures }));
  }

  private comeAgain(sender: Sender, answered: Answered | null, inMs: number | null): void {
    if (inMs === null || sender.sent.isOnce === true) {
      sender.outcome = this.outcomeOf(sender, answered);
      return;
    }
    this.clock.set(inMs, () => this.send(sender, this.living), nobody, false);
  }

  private outcomeOf({ name, tries }: Sender, answered: Answered | null): CallOutcome {
    const { status = null, isParked = false, error = null } = answered ?? {};
    return { call: name, tries, status, isParked, error };
  }

  private meetWrite(life: Life, side: Side): void {
    if (currentCaller()?.run?.isCall !== true || life.isLoading || life.isDead) return;
    if (side === "before") this.writes++;
    const { dieAtWrite } = this.plan;
    if (dieAtWrite?.side !== side || dieAtWrite.write !== this.writes || this.hasDied) return;
    this.hasDied = true;
    this.kill(life, `${side} it wrote to its store`);
  }
}

/** For what a destination's model takes for the event's own values. */
function bodyOf({ body }: SentCall): null {
  try {
    return body === null ? null : (JSON.parse(body) as null);
  } catch {
    return null;
  }
}
