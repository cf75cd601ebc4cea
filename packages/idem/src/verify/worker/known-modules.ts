// Findings of Node's loader for the first life of a program, used for the lives after it: where names lead and the text of each module. A life still has
// modules of its own, run anew; saved are the questions to the hooks' thread, 6 ms for each life of a small program. Where something is not known here,
// the world is played again with Node's loader.
import Module from "node:module";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import vm from "node:vm";
import type { Told } from "./tell-hooks.ts";

interface KnownModule {
  /** Its address in the life it was first loaded for: source maps are kept under it. */
  readonly first: string;
  readonly format: string;
  readonly source: string | null;
  /** V8's code cache for the text. */
  compiled?: Buffer;
  /** Of CommonJS: the names Node found in its text. */
  names?: readonly string[];
}

const lifeMark = /[?&](idem-life=\d+)/;
const withoutLife = (url: string): string => url.replace(lifeMark, "");
const keyOf = (parent: string, name: string, type: string): string =>
  `${withoutLife(parent)}\0${withoutLife(name)}\0${type}`;
/** Null of one that could not be loaded, of which nothing is known then. */
const namesOf = (url: string): Promise<Readonly<Record<string, unknown>> | null> =>
  import(url).then(
    (names) => names as Readonly<Record<string, unknown>>,
    () => null,
  );

/** Parts of `import.meta` that are not made here; they are Node's own. */
const otherMeta = /\bimport\s*\.\s*meta\b(?!\s*\.\s*(?:url|dirname|filename)\b)/;

/** Asked for, and not known. */
class Unknown extends Error {}

/** A thread that may make modules has them (node-platform.ts). */
const canMake = (): boolean => typeof vm.SourceTextModule === "function";

export class KnownModules {
  private readonly resolved = new Map<string, { readonly url: string; readonly isShared: boolean }>();
  private readonly modules = new Map<string, KnownModule>();
  /** Of Node and of Idem: one for all lives. */
  private readonly shared = new Map<string, SharedModule>();
  /** Something was asked for that is not known. */
  private isMissing = false;

  /** `told`: the hooks' messages since it was last called. */
  constructor(
    private readonly ours: string,
    private readonly told: () => Told[],
  ) {
    if (!canMake()) return;
    const { emitWarning } = process;
    // That these are experimental is our concern and not the user's.
    process.emitWarning = () => {};
    new vm.SyntheticModule([], () => {});
    process.emitWarning = emitWarning;
    this.followBuiltins();
  }

  /** Whether a life of this program may be tried with what is known. */
  knows(entries: readonly string[]): boolean {
    return canMake() && entries.every((url) => this.resolved.has(keyOf(this.ours, url, "")));
  }

  /** Whether the lives since the last time had everything they asked for from here. */
  wasEnough(): boolean {
    const wasAsked = this.told().some(({ kind }) => kind === "resolved");
    const isEnough = !wasAsked && !this.isMissing;
    this.isMissing = false;
    return isEnough;
  }

  /** After lives that Node's loader served. */
  async learn(): Promise<void> {
    if (!canMake()) return;
    for (const each of this.told()) {
      if (each.kind === "resolved") this.learnName(each);
      else if (!this.modules.has(withoutLife(each.url)))
        this.modules.set(withoutLife(each.url), { first: each.url, format: each.format, source: each.source });
    }
    for (const { url, isShared } of this.resolved.values()) {
      const names = isShared && !this.shared.has(url) ? await namesOf(url) : null;
      if (names !== null) this.shared.set(url, shareOf(names));
    }
    for (const known of this.modules.values()) {
      const names = known.format === "commonjs" && known.names === undefined ? await namesOf(known.first) : null;
      if (names !== null) known.names = Object.keys(names);
    }
    // Its own questions.
    this.told();
  }

  private learnName({ parent, name, type, url }: Extract<Told, { kind: "resolved" }>): void {
    // A parent without a life is no module of one: Node's loader serves it each time.
    if (!lifeMark.test(parent) && !parent.startsWith(this.ours)) return;
    this.resolved.set(keyOf(parent.startsWith(this.ours) ? this.ours : parent, name, type), {
      url: withoutLife(url),
      isShared: !lifeMark.test(url),
    });
  }

  /** For a life's own modules. */
  find(parent: string, name: string, type: string): { readonly url: string; readonly of: KnownModule | SharedModule } {
    const found = this.resolved.get(keyOf(parent, name, type));
    const of = found === undefined ? undefined : (found.isShared ? this.shared : this.modules).get(found.url);
    if (found === undefined || of === undefined) throw this.missing(name);
    return { url: found.url, of };
  }

  missing(name: string): Error {
    this.isMissing = true;
    return new Unknown(`${name} is asked for, and was not before`);
  }

  get entrance(): string {
    return this.ours;
  }

  /** Code that changes what Node's modules export says so by this. */
  private followBuiltins(): void {
    const sync = Module.syncBuiltinESMExports;
    Module.syncBuiltinESMExports = () => {
      sync();
      for (const [url, { module, names }] of this.shared) {
        if (url.startsWith("node:") && module.status === "evaluated") fill(module, names);
      }
    };
    sync();
  }
}

interface SharedModule {
  readonly module: vm.SyntheticModule;
  /** As Node's loader has it: always what it is now. */
  readonly names: Readonly<Record<string, unknown>>;
}

const fill = (module: vm.SyntheticModule, names: Readonly<Record<string, unknown>>): void => {
  for (const [name, value] of Object.entries(names)) module.setExport(name, value);
};

function shareOf(names: Readonly<Record<string, unknown>>): SharedModule {
  const module = new vm.SyntheticModule(Object.keys(names), () => fill(module, names));
  return { module, names };
}

/** The modules of one life. */
export class LifeModules {
  private readonly made = new Map<string, vm.Module>();
  private readonly urls = new WeakMap<vm.Module, string>();
  private linking: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly known: KnownModules,
    /** As it stands in addresses. */
    private readonly life: string,
  ) {}

  async import(name: string, parent = this.known.entrance, type = ""): Promise<vm.Module> {
    const module = this.moduleOf(parent, name, type);
    // One after the other: a module that another import is still linking may be part of this one.
    const linked = this.linking.then(() => (module.status === "unlinked" ? module.link(this.link) : undefined));
    this.linking = linked.catch(() => {});
    await linked;
    if (module.status === "evaluating") throw this.known.missing(name);
    await module.evaluate();
    return module;
  }

  private readonly link: vm.ModuleLinker = (name, from, extra) =>
    this.moduleOf(this.urls.get(from)!, name, (extra as { attributes?: { type?: string } }).attributes?.type ?? "");

  private moduleOf(parent: string, name: string, type: string): vm.Module {
    const { url, of } = this.known.find(parent, name, type);
    if ("module" in of) return of.module;
    const before = this.made.get(url);
    if (before !== undefined) return before;
    const made = this.make(url, of);
    this.made.set(url, made);
    this.urls.set(made, url);
    return made;
  }

  private make(url: string, known: KnownModule): vm.Module {
    const { format, source, names } = known;
    if (format === "module" && source !== null && !otherMeta.test(source)) return this.makeModule(url, known, source);
    if (format === "commonjs" && source === null && names !== undefined) return ofCommonJs(fileURLToPath(url), names);
    if (format === "json" && source !== null) return shareOf({ default: JSON.parse(source) as unknown }).module;
    throw this.known.missing(url);
  }

  private makeModule(url: string, known: KnownModule, source: string): vm.Module {
    const made = new vm.SourceTextModule(source, {
      identifier: known.first,
      ...(known.compiled === undefined ? {} : { cachedData: known.compiled }),
      initializeImportMeta: (meta) => {
        const file = fileURLToPath(url);
        if ("dirname" in import.meta) Object.assign(meta, { dirname: dirname(file), filename: file });
        meta.url = `${url}${url.includes("?") ? "&" : "?"}${this.life}`;
      },
      importModuleDynamically: (async (name: string, _from: unknown, attributes: { type?: string }) =>
        this.import(name, url, attributes.type ?? "")) as never,
    });
    // Code that is read back asks for its imports in the name of the module it was first compiled for.
    if (!/\bimport\s*[(/]/.test(source))
      known.compiled ??= (made as vm.SourceTextModule & { createCachedData(): Buffer }).createCachedData();
    return made;
  }
}

interface Loader {
  _load(file: string, parent: undefined, isMain: boolean): unknown;
}

/** As Node shows a CommonJS file to an import. */
function ofCommonJs(file: string, names: readonly string[]): vm.Module {
  return new vm.SyntheticModule([...names], function (this: vm.SyntheticModule) {
    const all = (Module as unknown as Loader)._load(file, undefined, false);
    for (const name of names) {
      if (name === "default" || name === "module.exports") this.setExport(name, all);
      else this.setExport(name, exportOf(all, name));
    }
  });
}

/** An export that throws when it is read counts as absent, as for Node. */
function exportOf(all: unknown, name: string): unknown {
  try {
    return all !== null && all !== undefined && Object.hasOwn(all as object, name)
      ? Reflect.get(all as object, name)
      : undefined;
  } catch {
    return undefined;
  }
}
