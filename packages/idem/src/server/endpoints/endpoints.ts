// Durable endpoints: HTTP handlers of an app whose steps are kept. The app answers its own caller and drives the run itself,
// reporting each step; this server keeps what is reported and takes the run over where the app cannot go on (a sleep, a wait,
// parallel steps, a failed step) or does not (it died).
//
// On this side such a run is like any other: leased, with one call to its code under way. Only that call is not made but
// awaited, for the code is running already (drive.ts). So recording, retries, waits and the end are the engine's.
import { createHash } from "node:crypto";
import type { Engine } from "../../engine/engine.ts";
import { startRunAs } from "../../engine/start-run-as.ts";
import type { Remote, RemoteCall, RemoteReply } from "../../execute/remote.ts";
import { errors } from "../../model/errors.ts";
import { canonicalJson } from "../../model/json.ts";
import { isEnded } from "../../model/run.ts";
import { derivedUlid, ulidTime } from "../../model/ulid.ts";
import { type EndpointReport, type EndpointStart, httpRequestEvent } from "../../protocol/endpoint-request.ts";
import { checkAppUrl } from "../app-address.ts";
import type { CallAppOptions } from "../call-app.ts";
import type { World } from "../world.ts";
import { Drive } from "./drive.ts";
import { endpointLimits } from "./limits.ts";
import { reenterEndpoint } from "./reenter-endpoint.ts";
import { EndpointFunctions } from "./register-endpoint.ts";
import { checkRepeated, hasHandedOver, onlyFinished, ReportsElsewhere, type Said } from "./reports-elsewhere.ts";
import { untilKept } from "./until-kept.ts";

type Limits = Pick<typeof endpointLimits, "drivesMax"> & { readonly silentMs: number };

export class Endpoints {
  private readonly drives = new Map<string, Drive>();
  /** Runs whose drive was known here and is over: nobody drives them any more. */
  private readonly past = new Set<string>();
  private readonly functions: EndpointFunctions;
  private readonly openedMono: number;
  private readonly stopping = new AbortController();
  private readonly elsewhere: ReportsElsewhere;

  constructor(
    private readonly world: World,
    private readonly limits: Limits = endpointLimits,
  ) {
    this.functions = new EndpointFunctions({ register: (env, app) => world.apps.register(env, app) });
    this.openedMono = world.platform.monoMs();
    this.elsewhere = new ReportsElsewhere(world);
  }

  /** Aborts once the server stops: long polls are over. */
  get stopSignal(): AbortSignal {
    return this.stopping.signal;
  }

  /** The first report: stores the run under the app's id and what it holds already. The same report again changes nothing. */
  async start(env: string, start: EndpointStart): Promise<{ readonly fn: string }> {
    const engine = await this.world.engine(env);
    const { runId } = start;
    // Before anything is waited for: of two first reports at once one begins the run.
    const drive = this.drives.get(nameOf(env, runId)) ?? this.begin(engine, start);
    await drive.begun;
    const memo = await engine.store.reads.runMemo(env, runId);
    if (memo === null) throw errors.RUN_UNKNOWN({ runId });
    if (canonicalJson(JSON.parse(memo.event.data)) !== canonicalJson(start.eventData))
      throw errors.RUN_EXISTS({ runId });
    await this.report(env, start);
    return { fn: memo.run.fn };
  }

  private begin(engine: Engine, start: EndpointStart): Drive {
    const { env } = engine;
    const { runId } = start;
    const name = nameOf(env, runId);
    const drive = this.open(name);
    const store = async () => {
      if ((await engine.store.reads.run(env, runId)) !== null) {
        await engine.store.shared?.stand();
        // Begun before, and perhaps no longer driven.
        if ((await this.mayBeDrivenForMs(env, runId)) <= 0) this.forget(name, drive);
        return;
      }
      // Said now, and not when the run has to be entered again.
      checkAppUrl(start.call.domain, this.world.settings);
      const fn = await this.functions.ensure(engine, start);
      const event = { name: httpRequestEvent, data: start.eventData };
      const refused = await startRunAs(engine, { runId, eventId: eventIdOf(runId), fn, event });
      if (refused !== null) throw errors.REQUEST_INVALID({ why: `the run was not started: ${refused}` });
      // The node that executes it drives it.
      if (!engine.executes) this.forget(name, drive);
    };
    drive.begun = store().catch((error) => {
      this.forget(name, drive);
      throw error;
    });
    return drive;
  }

  /** The app's next report. Resolves once it is stored. */
  async report(env: string, report: EndpointReport): Promise<void> {
    const engine = await this.world.engine(env);
    const { runId } = report;
    const place = await this.placeToReport(engine, runId);
    if (place.kind === "ended") {
      checkRepeated((await engine.store.reads.runMemo(env, runId))!, report);
      return engine.store.shared?.stand();
    }
    if (place.kind === "elsewhere") return this.elsewhere.report(engine, report);
    const { drive } = place;
    if (drive === null || (drive.state === "handed-over" && drive.lastReport !== hashOf(report))) {
      throw errors.CHECKPOINT_STALE({ runId, why: "the server goes on with it" });
    }
    drive.heard();
    if (onlyFinished(report)) {
      await engine.checkpoint(runId, { generation: null, requestId: null }, report.ops);
      drive.heard();
      return;
    }
    this.take(drive, report);
    await untilKept(engine, this.world.platform, runId, report.ops, endpointLimits.keptMs);
  }

  /** The engine's way to the code of an app's endpoints. The app is its origin, which stands in every run's event. */
  remoteFor(env: string, _app: string, calls: CallAppOptions): Remote {
    const reenter = reenterEndpoint(() => this.world.engine(env), env, calls);
    return {
      call: async (call) => {
        const drive = call.stepId === "step" ? await this.driveOf(env, call.runId) : null;
        return drive === null ? reenter.call(call) : this.follow(drive, call, env, reenter);
      },
    };
  }

  /** The answer to a call of a run that is being driven: what the app says, or what it answers when it is entered again. */
  private async follow(drive: Drive, call: RemoteCall, env: string, reenter: Remote): Promise<RemoteReply> {
    const close = this.elsewhere.listen(env, call.runId, (report) => this.take(drive, report));
    try {
      return await this.answerOf(drive, call, env, reenter);
    } finally {
      close();
    }
  }

  /** The app hands over. */
  private take(drive: Drive, report: Said): void {
    if (drive.state === "handed-over") return;
    drive.lastReport = hashOf(report);
    drive.handOver(replyOf(report));
  }

  private async answerOf(drive: Drive, call: RemoteCall, env: string, reenter: Remote): Promise<RemoteReply> {
    const { worker, store } = await this.world.engine(env);
    for (;;) {
      // While the app drives, ordinary runs must not wait for it.
      worker.guest(call.runId, drive.state === "driving");
      call.signal.throwIfAborted();
      if (this.stopping.signal.aborted) return this.leave(call, env);
      switch (drive.state) {
        case "driving":
          await drive.change(AbortSignal.any([call.signal, this.stopping.signal])).catch(() => {});
          break;
        case "handed-over":
          return drive.takeReply() ?? reenter.call(call);
        case "silent": {
          // It may have been heard by another node.
          const leftMs = store.shared === null ? 0 : await this.mayBeDrivenForMs(env, call.runId);
          if (leftMs > 0 && drive.state === "silent") {
            drive.heard(leftMs);
            break;
          }
          const reply = await this.reenterUnlessHeard(drive, call, reenter);
          if (reply !== null) {
            drive.over();
            return reply;
          }
        }
      }
    }
  }

  /** The server stops. Once its engine lets go of the run this call ends without a word; the next to take the run up asks again. */
  private async leave({ runId, signal }: RemoteCall, env: string): Promise<RemoteReply> {
    const { worker } = await this.world.engine(env);
    while (!signal.aborted && worker.activePass(runId)?.isDraining === false) await this.pause(lookMs);
    return staleReply;
  }

  /** Null when the app was heard again: then its own handler goes on, and what was just entered is left to itself. */
  private async reenterUnlessHeard(drive: Drive, call: RemoteCall, reenter: Remote): Promise<RemoteReply | null> {
    const gaveUp = new AbortController();
    const signal = AbortSignal.any([call.signal, gaveUp.signal]);
    const heard = drive.change(signal).then(
      () => null,
      () => null,
    );
    try {
      return await Promise.race([reenter.call({ ...call, signal }), heard]);
    } finally {
      gaveUp.abort();
    }
  }

  private open(name: string, firstSilenceMs = this.limits.silentMs): Drive {
    if (this.drives.size >= this.limits.drivesMax) {
      throw errors.SERVER_BUSY({ why: `${this.limits.drivesMax} runs are being driven by their apps` });
    }
    const { platform } = this.world;
    const drive = new Drive(platform, this.limits.silentMs, () => this.forget(name, drive), firstSilenceMs);
    this.drives.set(name, drive);
    return drive;
  }

  private forget(name: string, drive: Drive): void {
    drive.end();
    if (this.drives.get(name) === drive) this.drives.delete(name);
    this.past.add(name);
    if (this.past.size > this.limits.drivesMax) this.past.delete(this.past.values().next().value!);
  }

  /** Null for a run that this server goes on with by itself. */
  private async driveOf(env: string, runId: string): Promise<Drive | null> {
    const known = this.drives.get(nameOf(env, runId));
    if (known !== undefined) return known;
    const leftMs = await this.mayBeDrivenForMs(env, runId);
    return this.drives.get(nameOf(env, runId)) ?? (leftMs > 0 ? this.open(nameOf(env, runId), leftMs) : null);
  }

  /**
   * A run that was being driven when the server was restarted, or through a node that was lost, may still be: its app knows nothing
   * of it. Entering its handler at once would run the step it is in a second time.
   */
  private async mayBeDrivenForMs(env: string, runId: string): Promise<number> {
    const engine = await this.world.engine(env);
    const ageMs = this.world.platform.monoMs() - this.openedMono;
    const isShared = engine.store.shared !== null;
    if (isShared ? this.past.has(nameOf(env, runId)) : ageMs > this.limits.silentMs) return 0;
    const memo = await engine.store.reads.runMemo(env, runId);
    if (memo === null || (!isShared && memo.run.createdAt > engine.now() - ageMs)) return 0;
    if (hasHandedOver(memo)) return 0;
    const lastAt = Math.max(memo.run.createdAt, ...memo.steps.map(({ endedAt }) => endedAt));
    return lastAt + this.limits.silentMs - engine.now();
  }

  /**
   * Where a report belongs, once the run is being executed: after a restart the app may be quicker than the lease. The drive is null when
   * nobody waits for it.
   */
  private async placeToReport(engine: Engine, runId: string): Promise<Place> {
    const { platform } = this.world;
    const { env, store } = engine;
    const isShared = store.shared !== null;
    const until = platform.monoMs() + (isShared ? endpointLimits.takeUpElsewhereMs : endpointLimits.takeUpMs);
    for (;;) {
      const run = await store.reads.run(env, runId);
      if (run === null) throw errors.RUN_UNKNOWN({ runId });
      if (isEnded(run.state)) return { kind: "ended" };
      const isHere = engine.worker.activePass(runId) !== null;
      // Somebody takes it up soon, perhaps this node; where it is otherwise, the store says what became of it.
      if (isShared && !isHere && run.state !== "queued") return { kind: "elsewhere" };
      if (isHere || !isShared) {
        const drive = await this.driveOf(env, runId);
        if (isHere || drive === null || drive.state === "handed-over") return { kind: "here", drive };
      }
      if (platform.monoMs() > until) throw errors.SERVER_BUSY({ why: `run ${runId} is being taken up` });
      engine.worker.poke();
      await this.pause(lookMs);
    }
  }

  private pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.world.platform.timer(ms, resolve, { background: true });
    });
  }

  /** The server stops: long polls end, and runs that are being driven are let go with their engine. */
  stopWaiting(): void {
    this.stopping.abort();
  }
}

// A moment for a person, and seldom enough for a process.
const lookMs = 20;

type Place =
  | { readonly kind: "here"; readonly drive: Drive | null }
  | { readonly kind: "elsewhere" }
  | { readonly kind: "ended" };

const hashOf = ({ json }: Said): string => createHash("sha256").update(json).digest("hex");

const nameOf = (env: string, runId: string): string => JSON.stringify([env, runId]);

/** The event's id follows from the run's, so that the same report twice is the same event. */
const eventIdOf = (runId: string): string => derivedUlid(ulidTime(runId), `http request of ${runId}`);

/** A report as the answer to the call that waits for it. */
const replyOf = ({ json }: Said): RemoteReply => ({
  status: 206,
  headers: { "x-inngest-sdk": "durable-endpoint", "x-inngest-req-version": "2" },
  body: json,
});

/** Tells the engine that this call leads nowhere, without a word about the app. */
const staleReply: RemoteReply = {
  status: 400,
  headers: { "x-inngest-sdk": "durable-endpoint" },
  body: JSON.stringify({ name: "StaleDispatchError", message: "the server is stopping" }),
};
