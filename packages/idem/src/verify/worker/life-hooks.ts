// Loaded into Node's module hooks: each file of the user's gets the life it is loaded for, so that every life has modules of its own. What belongs to Idem is
// shared by all.

interface Resolved {
  readonly url: string;
}

let ours = "";

export function initialize(data: { readonly ours: string }): void {
  ours = data.ours;
}

const life = /[?&](idem-life=\d+)/;

export async function resolve(
  specifier: string,
  context: { readonly parentURL?: string },
  next: (specifier: string, context: object) => Promise<Resolved>,
): Promise<Resolved> {
  const resolved = await next(specifier, context);
  const of = life.exec(context.parentURL ?? "")?.[1];
  if (of === undefined || !resolved.url.startsWith("file:") || resolved.url.startsWith(ours)) return resolved;
  if (life.test(resolved.url)) return resolved;
  return { ...resolved, url: `${resolved.url}${resolved.url.includes("?") ? "&" : "?"}${of}` };
}

interface Loaded {
  readonly format: string;
  readonly source?: string | Uint8Array | null;
}

// Packages that are seen at their own door (watch-packages.ts): as ES modules they say themselves that they are loaded.
const watched = /\/nodemailer\/.*\/mailer\/index\.js$|\/stripe\/esm\/StripeResource\.js$/;

export async function load(
  url: string,
  context: object,
  next: (url: string, context: object) => Promise<Loaded>,
): Promise<Loaded> {
  const loaded = await next(url, context);
  const file = url.replace(/[?#].*$/, "");
  if (!watched.test(file) || loaded.format !== "module") return loaded;
  const told = `\nimport * as itself from ${JSON.stringify(url)};\nglobalThis[Symbol.for("idem.verify.packages")]?.(${JSON.stringify(file)}, itself);`;
  return { ...loaded, source: `${Buffer.from((loaded.source ?? "") as string).toString()}${told}` };
}
