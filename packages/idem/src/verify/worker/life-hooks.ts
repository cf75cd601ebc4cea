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
