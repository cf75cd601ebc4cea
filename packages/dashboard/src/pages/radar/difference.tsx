// Differences between the events of the newest pair: the fields the radar found, with both values.
import { useQuery } from "@tanstack/react-query";
import { ask } from "../../api/client.ts";
import { visibleText } from "../../parts/visible-text.ts";
import type { Alert } from "./radar-data.ts";

interface DifferenceProps {
  readonly alert: Alert;
  readonly count: number;
  readonly firstEvent: string | null;
  readonly laterEvent: string | null;
}

const fieldsShown = 4;

export function Difference({ alert, count, firstEvent, laterEvent }: DifferenceProps) {
  const { data } = useQuery({
    queryKey: ["radar", "events", firstEvent, laterEvent],
    queryFn: ({ signal }) => Promise.all([firstEvent, laterEvent].map((id) => dataOf(id!, signal))),
    enabled: firstEvent !== null && laterEvent !== null && alert.differs.length > 0,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
  const { differs } = alert;
  if (differs.length === 0)
    return (
      <p>
        {alert.kind === "key-missing"
          ? "There is no first one to compare with."
          : "Nothing but ids: the rest of their data is the same."}
      </p>
    );
  const many = count === 1 ? "" : ` in ${count === 2 ? "both" : `the ${count}`}`;
  return (
    <>
      <p>
        Besides the id, {differs.length === 1 ? "one field" : `${differs.length} fields`}
        {many}:
      </p>
      <dl className="differences">
        {differs.slice(0, fieldsShown).map((path) => (
          <div key={path}>
            <dt className="mono">{visibleText(path.replace(/^event\./, ""))}</dt>
            {data !== undefined && (
              <dd>
                <bdi className="mono was">{textAt(data[0], path)}</bdi> then{" "}
                <bdi className="mono now">{textAt(data[1], path)}</bdi>
              </dd>
            )}
          </div>
        ))}
      </dl>
      {differs.length > fieldsShown && <p className="quiet">and {differs.length - fieldsShown} more</p>}
    </>
  );
}

const dataOf = async (id: string, signal: AbortSignal): Promise<unknown> =>
  (await ask("GET /api/events/:event", { params: { event: id }, signal })).event.data.value;

const valueChars = 40;

/** The value at `data.eventType` or `event.data["a-b"].c`, short. */
export function textAt(data: unknown, path: string): string {
  const names = [...path.replace(/^(event\.)?data/, "").matchAll(/\.([^.[\]]+)|\["([^"]*)"\]|\[(\d+)\]/g)].map(
    (found) => found[1] ?? found[2] ?? found[3]!,
  );
  let value = data;
  for (const name of names) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return "nothing";
    value = (value as Readonly<Record<string, unknown>>)[name];
  }
  const text = visibleText(typeof value === "string" ? value : (JSON.stringify(value) ?? "nothing"));
  return text.length > valueChars ? `${text.slice(0, valueChars)}…` : text;
}
