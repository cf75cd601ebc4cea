// A person's word on an alert, or that it is over.
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { ask } from "../../api/client.ts";
import { StateIcon } from "../../parts/state-icon.tsx";
import { Time } from "../../parts/time.tsx";
import { visibleText } from "../../parts/visible-text.ts";
import type { Alert } from "./radar-data.ts";

export function AlertState({ alert }: { readonly alert: Alert }) {
  const { state, judgedBy, judgedAt, note, mutedUntil } = alert;
  if (state === "open") return null;
  const who = <bdi>{visibleText(judgedBy ?? "somebody")}</bdi>;
  const when = judgedAt === null ? null : <Time at={judgedAt} as="ago" />;
  const why = note === null ? null : <bdi>{visibleText(note)}</bdi>;
  if (state === "acknowledged")
    return (
      <Line>
        Acknowledged by {who}, {when}: {why}
      </Line>
    );
  if (state === "muted")
    return (
      <Line>
        Muted{" "}
        {mutedUntil === null ? (
          "for good"
        ) : (
          <>
            until <Time at={mutedUntil} />
          </>
        )}{" "}
        by {who}: {why}
      </Line>
    );
  return judgedBy === "idem" && judgedAt !== null && /has a key now/.test(note ?? "") ? (
    <Fixed alert={alert} at={judgedAt} />
  ) : (
    <Line>
      Closed {when} by {who === null ? "somebody" : who}: {why}
    </Line>
  );
}

const Line = ({ children, isGood = false }: { readonly children: ReactNode; readonly isGood?: boolean }) => (
  <p className="alert-state">
    <StateIcon state={isGood ? "completed" : "waiting"} words={false} />
    <span>{children}</span>
  </p>
);

/** "Fixed on 15 May at 15:20. No duplicate slipped through since; 12 were suppressed." */
function Fixed({ alert, at }: { readonly alert: Alert; readonly at: number }) {
  const { data } = useQuery({
    queryKey: ["radar", "since-fixed", alert.id],
    queryFn: ({ signal }) =>
      ask("GET /api/totals", {
        query: { fn: alert.function ?? undefined, since: new Date(at).toISOString() },
        signal,
      }),
    refetchInterval: 30_000,
    retry: false,
  });
  return (
    <Line isGood>
      Fixed: the function got a key. <Time at={at} />.{" "}
      {data !== undefined &&
        (data.slipped === 0
          ? `No duplicate slipped through since; ${data.suppressed === 1 ? "1 was" : `${data.suppressed} were`} suppressed.`
          : `${data.slipped} slipped through since; ${data.suppressed} were suppressed.`)}
    </Line>
  );
}
