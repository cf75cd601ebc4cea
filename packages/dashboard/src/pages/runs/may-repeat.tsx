// "Several runs per placement are fine": the radar's alert about the function and field is muted for good, with a reason.
import { useQuery } from "@tanstack/react-query";
import { useCallback, useState } from "react";
import { ask } from "../../api/client.ts";
import { useFollow } from "../../api/follow.ts";
import { say } from "../../frame/messages.ts";
import { ActButton } from "../../parts/button.tsx";
import { AskFirst } from "../../parts/dialog.tsx";
import { labelParts } from "./group-words.ts";
import type { GroupItem } from "./groups-data.ts";

/** The open alerts of a function, or of all; the radar opens one some seconds after the rows are loud. */
export function useOpenAlertsOf(fn: string | undefined, isWanted = true) {
  const alerts = useQuery({
    queryKey: ["alerts-of", fn],
    queryFn: async ({ signal }) =>
      (await ask("GET /api/radar/alerts", { query: { function: fn, limit: 20 }, signal })).alerts.filter(
        ({ state }) => state === "open" || state === "acknowledged",
      ),
    enabled: isWanted,
    staleTime: 10_000,
  });
  const { refetch } = alerts;
  useFollow(useCallback(async () => isWanted && (await refetch()), [isWanted, refetch]));
  return alerts;
}

export function MayRepeat({ group }: { readonly group: GroupItem }) {
  const [isAsking, setAsking] = useState(false);
  const { data } = useOpenAlertsOf(group.function);
  const alert = data?.find(({ kind }) => kind === "doubled-runs");
  const { name } = labelParts(group);
  if (alert === undefined) return null;
  const field = name ?? "one thing";
  return (
    <>
      <ActButton small onClick={() => setAsking(true)}>
        Several runs per {field} are fine
      </ActButton>
      {isAsking && (
        <AskFirst
          title={`Several runs per ${field} are fine?`}
          action={`Stop alerting about ${field}`}
          reason="demanded"
          onClose={() => setAsking(false)}
          onAct={async (reason) => {
            await ask("POST /api/radar/alerts/:alert/mute", { params: { alert: alert.id }, body: { reason } });
            say(`${group.function} may run several times per ${field}. Your reason stands in the audit.`);
          }}
        >
          <p>
            Runs of {group.function} for the same {field} are no longer shown as doubled. They go on running as often as
            they are asked to: nothing is suppressed by this.
          </p>
        </AskFirst>
      )}
    </>
  );
}
