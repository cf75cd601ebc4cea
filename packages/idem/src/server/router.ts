// From a method and a path to a route: a tree of path segments, made once from the table. A segment that is written out
// wins over a parameter in its place.
import type { Route } from "./route.ts";

interface Node<T> {
  readonly byText: Map<string, Node<T>>;
  parameter: Node<T> | null;
  leaf: { readonly path: string; readonly byMethod: Map<string, T>; readonly names: readonly string[] } | null;
}

export interface Match<T> {
  /** By method. */
  readonly routes: ReadonlyMap<string, T>;
  /** As they stand in the path, still percent-encoded. */
  readonly values: readonly string[];
  readonly names: readonly string[];
}

const newNode = <T>(): Node<T> => ({ byText: new Map(), parameter: null, leaf: null });

export class Router<T extends { readonly path: string }> {
  private readonly root = newNode<T>();

  constructor(routes: readonly T[], methodOf: (route: T) => string) {
    for (const route of routes) this.add(route, methodOf(route));
  }

  private add(route: T, method: string): void {
    const names: string[] = [];
    let node = this.root;
    for (const segment of route.path.split("/").slice(1)) {
      if (segment.startsWith(":")) {
        names.push(segment.slice(1));
        node.parameter ??= newNode();
        node = node.parameter;
      } else {
        const next = node.byText.get(segment) ?? newNode<T>();
        node.byText.set(segment, next);
        node = next;
      }
    }
    node.leaf ??= { path: route.path, byMethod: new Map(), names };
    const { leaf } = node;
    if (leaf.byMethod.has(method) || leaf.names.join() !== names.join()) {
      throw new Error(`${method} ${route.path} stands twice in the table, or beside ${leaf.path} with other names`);
    }
    leaf.byMethod.set(method, route);
  }

  /** Null when no route has this path. */
  match(path: string): Match<T> | null {
    // Fuzzers and scanners send paths of thousands of segments; no route has as many as these.
    const segments = path.split("/", segmentsMax + 2);
    if (segments.length > segmentsMax + 1) return null;
    // `/health/` is `/health`: people write both.
    if (segments.length > 2 && segments.at(-1) === "") segments.pop();
    const values: string[] = [];
    const leaf = find(this.root, segments, 1, values);
    return leaf === null ? null : { routes: leaf.byMethod, values, names: leaf.names };
  }
}

const segmentsMax = 16;

function find<T>(node: Node<T>, segments: readonly string[], at: number, values: string[]): Node<T>["leaf"] {
  if (at === segments.length) return node.leaf;
  const segment = segments[at]!;
  const written = node.byText.get(segment);
  if (written !== undefined) {
    const leaf = find(written, segments, at + 1, values);
    if (leaf !== null) return leaf;
  }
  if (node.parameter === null || segment === "") return null;
  values.push(segment);
  const leaf = find(node.parameter, segments, at + 1, values);
  if (leaf === null) values.pop();
  return leaf;
}

export const routerOf = (routes: readonly Route[]): Router<Route> => new Router(routes, ({ method }) => method);

/** Throws URIError for a `%` that encodes nothing. */
export function paramsOf(match: Match<unknown>): Record<string, string> {
  const params: Record<string, string> = {};
  for (let i = 0; i < match.names.length; i++) {
    const value = match.values[i]!;
    params[match.names[i]!] = value.includes("%") ? decodeURIComponent(value) : value;
  }
  return params;
}
