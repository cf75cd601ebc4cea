// A path of /api as it is written in the table of routes, and as it is asked for.

/** `/api/runs/:run` with what stands in it. */
export const pathWith = (path: string, params: Readonly<Record<string, string>> = {}): string =>
  path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name]!));
