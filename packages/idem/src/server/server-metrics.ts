// Metrics that only a server has: its requests and lines, and the quotas of event keys.
import type { Metrics } from "../engine/metrics.ts";
import { type QuotaKind, type QuotaUse, quotaKinds } from "./event-quota.ts";
import type { ListenerLoad } from "./node-listener.ts";
import type { World } from "./world.ts";

/** Read when metrics are asked for. */
export function watchServer({ meters }: Metrics, world: World, load: () => ListenerLoad): void {
  meters.gauge("underWay", async () => {
    const { requestsInFlight, bodiesAwaited, waitingRequests, sockets, lines } = load();
    return [
      [{ kind: "request" }, requestsInFlight],
      [{ kind: "body" }, bodiesAwaited],
      [{ kind: "line" }, lines],
      [{ kind: "waiting" }, waitingRequests],
      [{ kind: "socket" }, sockets],
    ];
  });
  const ofKeys = (show: (use: QuotaUse, kind: QuotaKind) => number) => async () =>
    (world.eventQuotas?.uses() ?? []).flatMap((use) =>
      quotaKinds.map((kind) => [{ env: use.env, key: `${use.place}`, kind }, show(use, kind)] as const),
    );
  meters.gauge(
    "quotaUsed",
    ofKeys(({ used }, kind) => used[kind] / world.eventQuotas!.quota[kind]),
  );
  meters.gauge(
    "quotaRefused",
    ofKeys(({ refused }, kind) => refused[kind]),
  );
  meters.gauge("bodyBytes", async () => [[{}, load().bodyBytesHeld]]);
  meters.gauge("refusedBusy", async () => [[{}, load().refusedBusy]]);
  meters.gauge("cutSilent", async () => [[{}, load().cutSilent]]);
}
