// The smallest honest store: the whole contract over plain maps, gone with the process. Other stores are compared with it.
// Every operation is one synchronous step, so nothing can happen in its middle.
import type { ClaimAnswer } from "../../model/claim.ts";
import type { Outcome } from "../../model/step.ts";
import type { AdvanceAnswer, AdvanceInput } from "../advance.ts";
import type { FollowAnswer, FollowInput, JudgeAnswer, JudgeInput, Raised, RaiseInput } from "../alerts.ts";
import type { AuditAnswer, Audited, AuditInput } from "../audit.ts";
import type { Published, PublishInput } from "../channels.ts";
import type {
  AmendAnswer,
  AmendInput,
  ClaimInput,
  ExtendAnswer,
  ExtendInput,
  ReleaseAnswer,
  ReleaseInput,
  SettleAnswer,
} from "../claims.ts";
import { StoreClock } from "../clock.ts";
import type { CountAnswer, CountInput } from "../counts.ts";
import type { RedecideAnswer, RedecideInput, Ticked, TickInput } from "../flow.ts";
import type { PauseAnswer, PauseInput, RegisterAnswer, RegisterInput } from "../functions.ts";
import type { Ingested, IngestInput, StaleRegistration } from "../ingest.ts";
import type { HeartbeatAnswer, LeaseAnswer, LeaseInput, SweepAnswer } from "../leases.ts";
import type { AnnotateAnswer, AnnotateInput } from "../metadata.ts";
import type { StoreOutbox } from "../outbox.ts";
import type { PruneAnswer, PruneInput } from "../prune.ts";
import type { StoreReads } from "../reads.ts";
import type { CancelAnswer, CancelInput, RerunAnswer, RerunInput, UnparkAnswer, UnparkInput } from "../runs.ts";
import type { SettingAnswer, SettingInput } from "../settings.ts";
import type { StoreSharing, WorkerAbout } from "../sharing.ts";
import type { Store } from "../store.ts";
import type { StoreTransactions } from "../transactional.ts";
import type { ResumeAnswer, ResumeInput, SignalAnswer } from "../waits.ts";
import { advanceRun } from "./advance-run.ts";
import { judgeAlertRow, moveRadar, raiseAlerts } from "./alerts.ts";
import { annotateRun } from "./annotate-run.ts";
import { cancelRun } from "./cancel-run.ts";
import { changeSettingRow } from "./change-setting.ts";
import { amendKey, claimKey, extendKey, releaseKey, settleKey } from "./claim-key.ts";
import { countDecisions } from "./count-decisions.ts";
import { resumeWaits, sendSignal } from "./deliver.ts";
import { ingest } from "./ingest.ts";
import { leaseJobs } from "./lease-jobs.ts";
import { Turns } from "./lease-lanes.ts";
import { pauseFunction } from "./pause-function.ts";
import { pruneEvents } from "./prune-events.ts";
import { publishMessages } from "./publish-messages.ts";
import { memoryReads } from "./reads.ts";
import { redecideEvent } from "./redecide-event.ts";
import { register } from "./register.ts";
import { rerunRun } from "./rerun-run.ts";
import { sweep } from "./sweep.ts";
import { Database, type Moment, type Tables } from "./tables.ts";
import { tickCrons } from "./tick-crons.ts";
import { unparkRun } from "./unpark-run.ts";
import { handBack, heartbeat } from "./workers.ts";

export class MemoryStore implements Store {
  readonly reads: StoreReads;
  /** A process's own memory is nobody else's; tests have several engines over one. */
  readonly shared: StoreSharing | null = null;
  readonly outbox: StoreOutbox | null = null;
  readonly transactional: StoreTransactions | null = null;
  private readonly database = new Database();
  private readonly clock: StoreClock;
  private readonly turns = new Map<string, Turns>();

  constructor(clock: { wallMs(): number; monoMs(): number }) {
    this.clock = new StoreClock(clock);
    this.reads = memoryReads(this.database, () => this.moment());
  }

  async register(input: RegisterInput): Promise<RegisterAnswer> {
    return this.write(input.env, (tables, at) => register(tables, at, input));
  }

  async pause(input: PauseInput): Promise<PauseAnswer> {
    return this.write(input.env, (tables, at) => pauseFunction(tables, at, input));
  }

  async ingest(input: IngestInput): Promise<Ingested | StaleRegistration> {
    return this.write(input.env, (tables, at) => ingest(tables, at, input));
  }

  async redecide(input: RedecideInput): Promise<RedecideAnswer> {
    return this.write(input.env, (tables, at) => redecideEvent(tables, at, input));
  }

  async tick(input: TickInput): Promise<Ticked | StaleRegistration> {
    return this.write(input.env, (tables, at) => tickCrons(tables, at, input));
  }

  async lease(input: LeaseInput): Promise<LeaseAnswer> {
    return this.write(input.env, (tables, at) => leaseJobs(tables, at, input, this.turnsOf(input.env)));
  }

  async advance(input: AdvanceInput): Promise<AdvanceAnswer> {
    return this.write(input.env, (tables, at) => advanceRun(tables, at, input));
  }

  async resume(input: ResumeInput): Promise<ResumeAnswer> {
    return this.write(input.env, (tables, at) => resumeWaits(tables, at, input));
  }

  async signal(env: string, signal: string, outcome: Outcome, byHand?: Audited): Promise<SignalAnswer> {
    return this.write(env, (tables, at) => sendSignal(tables, at, signal, outcome, byHand));
  }

  async cancel(input: CancelInput): Promise<CancelAnswer> {
    return this.write(input.env, (tables, at) => cancelRun(tables, at, input));
  }

  async rerun(input: RerunInput): Promise<RerunAnswer> {
    return this.write(input.env, (tables, at) => rerunRun(tables, at, input));
  }

  async unpark(input: UnparkInput): Promise<UnparkAnswer> {
    return this.write(input.env, (tables, at) => unparkRun(tables, at, input));
  }

  async annotate(input: AnnotateInput): Promise<AnnotateAnswer> {
    return this.write(input.env, (tables, at) => annotateRun(tables, at, input));
  }

  async publish(input: PublishInput): Promise<Published> {
    return this.write(input.env, (tables, at) => publishMessages(tables, at, input));
  }

  async claim(input: ClaimInput): Promise<ClaimAnswer> {
    return this.write(input.env, (tables, at) => claimKey(tables, at, input));
  }

  async extend(input: ExtendInput): Promise<ExtendAnswer> {
    return this.write(input.env, (tables, at) => extendKey(tables, at, input));
  }

  async amend(input: AmendInput): Promise<AmendAnswer> {
    return this.write(input.env, (tables, at) => amendKey(tables, at, input));
  }

  async settle(env: string, scope: string, key: string, fence: number, outcome: string): Promise<SettleAnswer> {
    return this.write(env, (tables) => settleKey(tables, scope, key, fence, outcome));
  }

  async release(input: ReleaseInput): Promise<ReleaseAnswer> {
    return this.write(input.env, (tables, at) => releaseKey(tables, at, input));
  }

  async heartbeat(worker: string, termMs: number, about?: WorkerAbout): Promise<HeartbeatAnswer> {
    return this.database.transact(() => heartbeat(this.database, this.moment(), worker, termMs, about));
  }

  async handBack(worker: string): Promise<{ readonly count: number }> {
    return this.database.transact(() => handBack(this.database, this.moment(), worker));
  }

  async sweep(input: { readonly max: number; readonly repair: boolean }): Promise<SweepAnswer> {
    return this.database.transact(() => sweep(this.database, this.moment(), input));
  }

  async prune(input: PruneInput): Promise<PruneAnswer> {
    return this.write(input.env, (tables, at) => pruneEvents(tables, at, input));
  }

  async set(input: SettingInput): Promise<SettingAnswer> {
    return this.write(input.env, (tables, at) => changeSettingRow(tables, at, input));
  }

  async raise(input: RaiseInput): Promise<readonly Raised[]> {
    return this.write(input.env, (tables, at) => raiseAlerts(tables, at, input));
  }

  async judge(input: JudgeInput): Promise<JudgeAnswer> {
    return this.write(input.env, (tables, at) => judgeAlertRow(tables, at, input));
  }

  async follow(input: FollowInput): Promise<FollowAnswer> {
    return this.write(input.env, (tables) => moveRadar(tables, input));
  }

  async audit(input: AuditInput): Promise<AuditAnswer> {
    this.write(input.env, (tables, at) => tables.addAudit(at, input));
    return "kept";
  }

  async count(input: CountInput): Promise<CountAnswer> {
    return this.write(input.env, (tables) => countDecisions(tables, input));
  }

  async close(): Promise<void> {}

  private turnsOf(env: string): Turns {
    const turns = this.turns.get(env) ?? new Turns();
    this.turns.set(env, turns);
    return turns;
  }

  private write<T>(env: string, change: (tables: Tables, at: Moment) => T): T {
    return this.database.transact(() => change(this.database.env(env), this.moment()));
  }

  private moment(): Moment {
    return { ...this.clock.read(), stamp: () => this.clock.stamp() };
  }
}
