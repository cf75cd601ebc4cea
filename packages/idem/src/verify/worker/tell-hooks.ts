// Loaded into Node's module hooks, asked before all others: tells the thread where each name of the user's led and what was loaded there, so that lives after
// the first need not ask again (known-modules.ts).

/** Where a name led, for the module that said it. */
interface ToldName {
  readonly kind: "resolved";
  readonly parent: string;
  readonly name: string;
  /** Of the import's attributes; "" without one. */
  readonly type: string;
  readonly url: string;
}
interface ToldModule {
  readonly kind: "loaded";
  readonly url: string;
  readonly format: string;
  /** Null where Node reads it elsewhere. */
  readonly source: string | null;
}
export type Told = ToldName | ToldModule;

interface Given {
  readonly ours: string;
  readonly port: { postMessage(told: Told): void };
}
interface Context {
  readonly parentURL?: string;
  readonly importAttributes?: { readonly type?: string };
}

let given: Given | null = null;

export function initialize(data: Given): void {
  given = data;
}

const life = /[?&]idem-life=\d+/;

export async function resolve<T extends { readonly url: string }>(
  name: string,
  context: Context,
  next: (name: string, context: Context) => Promise<T>,
): Promise<T> {
  const resolved = await next(name, context);
  const { parentURL: parent = "", importAttributes: { type = "" } = {} } = context;
  const { url } = resolved;
  // Idem's own imports are no life's.
  if (!parent.startsWith(given!.ours) || life.test(url))
    given!.port.postMessage({ kind: "resolved", parent, name, type, url });
  return resolved;
}

export async function load<T extends { readonly format: string; readonly source?: unknown }>(
  url: string,
  context: object,
  next: (url: string, context: object) => Promise<T>,
): Promise<T> {
  const loaded = await next(url, context);
  const { format, source } = loaded;
  const text = typeof source === "string" ? source : null;
  if (life.test(url)) given!.port.postMessage({ kind: "loaded", url, format, source: text });
  return loaded;
}
