// The fields that expressions may speak of: those of the data of the newest events, and of what apps told of them.
import { useQuery } from "@tanstack/react-query";
import { ask } from "../../api/client.ts";

const eventsRead = 5;
const pathsMax = 200;
const name = /^[A-Za-z_]\w*$/;

/** Down to plain values; lists have no path. */
export function pathsOf(value: unknown, path: string, depth = 0): readonly string[] {
  if (typeof value !== "object" || value === null || Array.isArray(value) || depth > 3) return [path];
  return Object.entries(value).flatMap(([key, inner]) =>
    name.test(key) ? pathsOf(inner, `${path}.${key}`, depth + 1) : [],
  );
}

interface Shape {
  readonly properties?: Readonly<Record<string, Shape>>;
}

const pathsOfSchema = (schema: Shape, path: string, depth = 0): readonly string[] =>
  schema.properties === undefined || depth > 3
    ? [path]
    : Object.entries(schema.properties).flatMap(([key, inner]) =>
        name.test(key) ? pathsOfSchema(inner, `${path}.${key}`, depth + 1) : [],
      );

/** Asked once the field has the focus. */
export function useFieldPaths(isWanted: boolean): readonly string[] {
  const { data } = useQuery({
    queryKey: ["field-paths"],
    queryFn: async ({ signal }) => {
      const [{ eventTypes }, { events }] = await Promise.all([
        ask("GET /api/event-types", { signal }),
        ask("GET /api/events", { query: { limit: 50 }, signal }),
      ]);
      const ofName = new Map(events.map((event) => [event.name, event.internalId]));
      const read = await Promise.all(
        [...ofName.values()]
          .slice(0, eventsRead)
          .map((event) => ask("GET /api/events/:event", { params: { event }, signal }).catch(() => null)),
      );
      const paths = [
        ...eventTypes.flatMap(({ schema }) => (schema === null ? [] : pathsOfSchema(schema as Shape, "event.data"))),
        ...read.flatMap((answer) => (answer === null ? [] : pathsOf(answer.event.data.value, "event.data"))),
      ];
      return [...new Set(paths)].filter((path) => path !== "event.data").slice(0, pathsMax);
    },
    enabled: isWanted,
    staleTime: 60_000,
  });
  return data ?? [];
}
