// Facts about the file that its one owner may remember instead of reading them with every event or step: which registration
// is current, which event names and which runs anybody may be waiting for, which jobs lost a worker. Each set may hold too
// much, never too little. Sound because one process owns the file; forgotten whenever a transaction is rolled back.
import type { Connection } from "./connection.ts";

const registrationSql = "select value from meta where name = 'registration:' || ?";
const awaitedNamesSql = `
  select distinct env, event_name from waits indexed by waits_by_event where event_name is not null
  union select distinct env, event_name from cancels indexed by cancels_by_event`;
const buffersSql = "select 1 from buffers limit 1";

const awaitedRunsSql = "select env, child_run_id from waits indexed by waits_by_child where child_run_id is not null";
const lostJobsSql = "select env, id from jobs where lost_workers > 0";

export class KnownFacts {
  private registrations = new Map<string, number>();
  /** Every name that some wait may have: a name may be too many here, never too few. */
  private awaited: Set<string> | null = null;
  private children: Set<string> | null = null;
  private lost: Set<string> | null = null;
  private buffers: boolean | null = null;

  constructor(private readonly connection: Connection) {}

  registration(env: string): number {
    let known = this.registrations.get(env);
    if (known === undefined) {
      known = Number(this.connection.one<{ value: string }>(registrationSql, env)?.value ?? 0);
      this.registrations.set(env, known);
    }
    return known;
  }

  noteRegistration(env: string, registration: number): void {
    this.registrations.set(env, registration);
  }

  mayBeAwaited(env: string, eventName: string): boolean {
    return this.names().has(nameIn(env, eventName));
  }

  noteAwaited(env: string, eventName: string): void {
    this.names().add(nameIn(env, eventName));
  }

  /** A look at the rows found nobody waiting for it. */
  noteUnawaited(env: string, eventName: string): void {
    this.names().delete(nameIn(env, eventName));
  }

  mayHaveParent(env: string, runId: string): boolean {
    return this.awaitedRuns().has(nameIn(env, runId));
  }

  noteParent(env: string, childRunId: string): void {
    this.awaitedRuns().add(nameIn(env, childRunId));
  }

  mayHaveLostWorker(env: string, jobId: string): boolean {
    return this.lostJobs().has(nameIn(env, jobId));
  }

  noteProgress(env: string, jobId: string): void {
    this.lostJobs().delete(nameIn(env, jobId));
  }

  /** Workers were lost: which jobs they held is read again when somebody asks. */
  noteRescue(): void {
    this.lost = null;
  }

  /** Most stores never have a buffer, and need no look. */
  mayHaveBuffers(): boolean {
    this.buffers ??= this.connection.one(buffersSql) !== undefined;
    return this.buffers;
  }

  noteBuffer(): void {
    this.buffers = true;
  }

  forget(): void {
    this.registrations.clear();
    this.awaited = null;
    this.children = null;
    this.lost = null;
    this.buffers = null;
  }

  private awaitedRuns(): Set<string> {
    this.children ??= new Set(
      this.connection
        .all<{ env: string; child_run_id: string }>(awaitedRunsSql)
        .map((row) => nameIn(row.env, row.child_run_id)),
    );
    return this.children;
  }

  private lostJobs(): Set<string> {
    this.lost ??= new Set(
      this.connection.all<{ env: string; id: string }>(lostJobsSql).map((row) => nameIn(row.env, row.id)),
    );
    return this.lost;
  }

  private names(): Set<string> {
    this.awaited ??= new Set(
      this.connection
        .all<{ env: string; event_name: string }>(awaitedNamesSql)
        .map((row) => nameIn(row.env, row.event_name)),
    );
    return this.awaited;
  }
}

const nameIn = (env: string, eventName: string): string => `${env}\u0000${eventName}`;
