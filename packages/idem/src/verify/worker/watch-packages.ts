// Packages of the user's that are watched where they are called, because further down nobody could tell which line asked: found when they are loaded.
// CommonJS is seen here; ES modules are reported by the loading hooks (life-hooks.ts).
import Module from "node:module";
import { fromHere } from "./caller.ts";

// biome-ignore lint/suspicious/noExplicitAny: whatever the package exports
type Take = (exported: any) => void;

/** Where it is on disk, and what to do with what it exports. */
export interface WatchedPackage {
  readonly file: RegExp;
  readonly take: Take;
}

/** ES modules that were loaded call this with what they export. */
export const packagesMark = "idem.verify.packages";

/** A method through which every call of the package passes, on the user's own turn. `met`: with what it is called on. */
export function fromMethod(prototype: object | undefined, name: string, met: (on: unknown) => void = () => {}): void {
  const before = Reflect.get(prototype ?? {}, name) as ((...args: unknown[]) => unknown) | undefined;
  if (before === undefined) return;
  Reflect.set(prototype!, name, function (this: unknown, ...args: unknown[]) {
    met(this);
    return fromHere(() => before.apply(this, args));
  });
}

/** Stripe's SDK asks turns later. */
export const stripePackage: WatchedPackage = {
  file: /[\\/]stripe[\\/](cjs|esm)[\\/]StripeResource\.js$/,
  take: ({ StripeResource }: { readonly StripeResource?: { readonly prototype: object } }) =>
    fromMethod(StripeResource?.prototype, "_makeRequest"),
};

/** And AWS's, whose middlewares leave no trace of who began. */
export const smithyPackage: WatchedPackage = {
  file: /[\\/]@smithy[\\/](core[\\/]dist-cjs[\\/]submodules[\\/]client|smithy-client[\\/]dist-cjs)[\\/]index\.js$/,
  take: ({ Client }: { readonly Client?: { readonly prototype: object } }) => fromMethod(Client?.prototype, "send"),
};

const taken = new WeakSet<object>();

const watched: WatchedPackage[] = [];

/** Each watcher has its own. */
export function watchPackages(packages: readonly WatchedPackage[]): void {
  watched.push(...packages);
  if (watched.length > packages.length) return;
  const take = (file: string, exported: unknown): void => {
    if ((typeof exported !== "object" && typeof exported !== "function") || exported === null || taken.has(exported)) {
      return;
    }
    for (const each of watched) {
      if (!each.file.test(file)) continue;
      taken.add(exported);
      each.take(exported);
    }
  };
  const loading = Module as unknown as {
    _load: (request: string, parent: unknown, isMain: boolean) => unknown;
    _resolveFilename: (request: string, parent: unknown) => string;
  };
  const before = loading._load;
  loading._load = function (this: unknown, request, parent, isMain) {
    const exported = before.call(this, request, parent, isMain);
    if (/undici|mailer|StripeResource|@smithy\/|^\.\/(client|query\.js)$|^pg-pool$/.test(request))
      take(loading._resolveFilename(request, parent), exported);
    return exported;
  };
  Object.defineProperty(globalThis, Symbol.for(packagesMark), { value: take });
}
