// Loaded into Node's module hooks: each file of the user's gets the life it is loaded for, so that every life has modules of its own. Idem's own modules are
// shared by all.

interface Resolved {
  readonly url: string;
  readonly format?: string | null;
  readonly shortCircuit?: boolean;
}
interface Loaded {
  readonly format: string;
  readonly source?: string | Uint8Array | null;
  readonly shortCircuit?: boolean;
}
interface Context {
  readonly parentURL?: string;
}

let ours = "";

export function initialize(data: { readonly ours: string }): void {
  ours = data.ours;
}

const life = /[?&](idem-life=\d+)/;
const fileOf = (url: string): string => url.replace(/[?#].*$/, "");
const isPackages = (url: string): boolean => url.includes("/node_modules/");

// Where a package's own imports lead, and its files, are the same for every life (share-code.ts).
const resolvedBefore = new Map<string, Resolved>();
const loadedBefore = new Map<string, Loaded>();

export async function resolve(
  specifier: string,
  context: Context,
  next: (specifier: string, context: object) => Promise<Resolved>,
): Promise<Resolved> {
  const { parentURL = "" } = context;
  if (!isPackages(parentURL)) return ofLife(await next(specifier, context), parentURL);
  const key = `${fileOf(parentURL)}\0${specifier}`;
  const resolved = resolvedBefore.get(key) ?? (await next(specifier, context));
  resolvedBefore.set(key, resolved);
  return { ...ofLife(resolved, parentURL), shortCircuit: true };
}

function ofLife(resolved: Resolved, parentURL: string): Resolved {
  // Told beforehand, Node need not find out again by compiling it.
  const known = loadedBefore.get(fileOf(resolved.url))?.format;
  const told = known === undefined ? resolved : { ...resolved, format: known };
  const { url } = resolved;
  const of = life.exec(parentURL)?.[1];
  if (of === undefined || !url.startsWith("file:") || url.startsWith(ours) || life.test(url)) return told;
  return { ...told, url: `${url}${url.includes("?") ? "&" : "?"}${of}` };
}

// Packages whose own calls are watched (watch-packages.ts): as ES modules they say themselves that they are loaded.
const watched = /\/nodemailer\/.*\/mailer\/index\.js$|\/stripe\/esm\/StripeResource\.js$|\/postgres\/src\/query\.js$/;

export async function load(
  url: string,
  context: object,
  next: (url: string, context: object) => Promise<Loaded>,
): Promise<Loaded> {
  const file = fileOf(url);
  const loaded = loadedBefore.get(file) ?? asText(await next(url, context));
  if (isPackages(file) && loaded.format !== "wasm") loadedBefore.set(file, { ...loaded, shortCircuit: true });
  if (!watched.test(file) || loaded.format !== "module") return loaded;
  const told = `\nimport * as itself from ${JSON.stringify(url)};\nglobalThis[Symbol.for("idem.verify.packages")]?.(${JSON.stringify(file)}, itself);`;
  return { ...loaded, source: `${loaded.source as string}${told}` };
}

/** Bytes are handed to the other thread, and gone here. */
function asText(loaded: Loaded): Loaded {
  const { source, format } = loaded;
  if (typeof source === "string" || source === null || source === undefined || format === "wasm") return loaded;
  return { ...loaded, source: Buffer.from(source).toString() };
}
