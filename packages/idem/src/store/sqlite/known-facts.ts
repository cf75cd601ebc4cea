// Facts about the file that its one owner may remember instead of reading them with every event: which registration is
// current, and which event names anybody may be waiting for. Sound because one process owns the file; forgotten whenever a
// transaction is rolled back.
import type { Connection } from "./connection.ts";

const registrationSql = "select value from meta where name = 'registration:' || ?";
const awaitedNamesSql =
  "select distinct env, event_name from waits indexed by waits_by_event where event_name is not null";

export class KnownFacts {
  private registrations = new Map<string, number>();
  /** Every name that some wait may have: a name may be too many here, never too few. */
  private awaited: Set<string> | null = null;

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

  forget(): void {
    this.registrations.clear();
    this.awaited = null;
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
