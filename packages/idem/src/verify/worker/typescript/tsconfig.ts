// The parts of a project's tsconfig.json that matter for loading its files: where names lead, and how its code is meant. Other settings are ignored.
import { existsSync, readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, isAbsolute, join, resolve, sep } from "node:path";

export interface PathRule {
  /** "@app/*": at most one star. */
  readonly pattern: string;
  /** Absolute, with the star in place. */
  readonly targets: readonly string[];
}

export interface ProjectSettings {
  readonly paths: readonly PathRule[];
  /** The folder in which a bare name is looked for before packages are. */
  readonly baseUrl: string | null;
  readonly jsx: "automatic" | "development" | "classic";
  readonly jsxFactory: string;
  readonly jsxFragment: string;
  readonly jsxSource: string;
  readonly hasLegacyDecorators: boolean;
  readonly hasDecoratorMetadata: boolean;
  /** Fields are defined, as the language has it, and not assigned. */
  readonly definesFields: boolean;
  /** An import stays although only its types are used. */
  readonly isVerbatim: boolean;
  /** `import x from` a CommonJS module gives what it exports. */
  readonly hasInterop: boolean;
  /** It compiles to ES modules whatever package.json says: a bundler comes afterwards. */
  readonly isBundled: boolean;
}

interface CompilerOptions {
  readonly baseUrl?: string;
  readonly paths?: Readonly<Record<string, readonly string[]>>;
  readonly jsx?: string;
  readonly jsxFactory?: string;
  readonly jsxFragmentFactory?: string;
  readonly jsxImportSource?: string;
  readonly experimentalDecorators?: boolean;
  readonly emitDecoratorMetadata?: boolean;
  readonly useDefineForClassFields?: boolean;
  readonly verbatimModuleSyntax?: boolean;
  readonly esModuleInterop?: boolean;
  readonly module?: string;
  readonly target?: string;
}

interface Written {
  readonly extends?: string | readonly string[];
  readonly files?: readonly string[];
  readonly include?: readonly string[];
  readonly references?: readonly { readonly path: string }[];
  readonly compilerOptions?: CompilerOptions;
}

/** Options with what they inherit; paths are absolute. */
interface Merged {
  readonly options: CompilerOptions;
  readonly paths: readonly PathRule[];
  readonly baseUrl: string | null;
}

// biome-ignore lint/suspicious/noTemplateCurlyInString: as tsconfig.json spells the folder of the file that is not extended.
const leafFolder = "${configDir}";
const nothing: Merged = { options: {}, paths: [], baseUrl: null };

/** JSON as tsconfig.json has it: with comments, and with commas before a bracket. */
export function readLooseJson(text: string): unknown {
  // One after the other: a pattern that looks past comments for a bracket has more ways through the file that `tsc --init` writes than anybody can wait for.
  const comments = /"(?:\\.|[^"\\])*"|\/\/[^\n]*|\/\*[\s\S]*?\*\//g;
  const commas = /"(?:\\.|[^"\\])*"|,(?=\s*[}\]])/g;
  const blank = (token: string): string => (token.startsWith('"') ? token : " ");
  return JSON.parse(
    text
      .replace(/^\uFEFF/, "")
      .replace(comments, blank)
      .replace(commas, blank),
  );
}

function readWritten(file: string): Written {
  try {
    return readLooseJson(readFileSync(file, "utf8")) as Written;
  } catch (error) {
    throw new Error(`${file} cannot be read: ${(error as Error).message}`);
  }
}

const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() === true;

/** The target of `extends`: a file, with its ending or without, or one of a package's. */
function findBase(from: string, name: string): string | null {
  if (/^\.{0,2}[\\/]/.test(name) || isAbsolute(name)) {
    const path = resolve(dirname(from), name);
    return [path, `${path}.json`, join(path, "tsconfig.json")].find(isFile) ?? null;
  }
  const require = createRequire(from);
  for (const each of [name, `${name}.json`, `${name}/tsconfig.json`]) {
    try {
      const found = require.resolve(each);
      if (found.endsWith(".json")) return found;
    } catch {
      // The next spelling.
    }
  }
  return null;
}

function merge(file: string, written: Written, leaf: string, seen: readonly string[]): Merged {
  const bases = typeof written.extends === "string" ? [written.extends] : (written.extends ?? []);
  const inherited = bases.reduce<Merged>((sum, name) => {
    const base = findBase(file, name);
    if (base === null || seen.includes(base)) return sum;
    const { options, paths, baseUrl } = merge(base, readWritten(base), leaf, [...seen, base]);
    return {
      options: { ...sum.options, ...options },
      paths: options.paths === undefined ? sum.paths : paths,
      baseUrl: baseUrl ?? sum.baseUrl,
    };
  }, nothing);
  const own = written.compilerOptions ?? {};
  const place = (path: string) => resolve(dirname(file), path.replaceAll(leafFolder, dirname(leaf)));
  const baseUrl = own.baseUrl === undefined ? inherited.baseUrl : place(own.baseUrl);
  const paths =
    own.paths === undefined
      ? inherited.paths
      : Object.entries(own.paths).map(([pattern, targets]) => ({
          pattern,
          targets: targets.map((target) =>
            target.startsWith(leafFolder) || baseUrl === null ? place(target) : resolve(baseUrl, target),
          ),
        }));
  return { options: { ...inherited.options, ...own }, paths, baseUrl };
}

/** Of a config that only names others, the one a file is of: its folder and its `include` say so. */
function referenced(file: string, written: Written, source: string): string {
  if (written.files?.length !== 0 || written.include !== undefined) return file;
  const configs = (written.references ?? [])
    .map(({ path }) => resolve(dirname(file), path))
    .map((path) => (path.endsWith(".json") ? path : join(path, "tsconfig.json")))
    .filter(isFile);
  const holds = (config: string): boolean =>
    (readWritten(config).include ?? ["."]).some((pattern) => {
      const folder = resolve(dirname(config), pattern.split("*")[0]!);
      return source === folder || source.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`);
    });
  return configs.find(holds) ?? configs[0] ?? file;
}

function majorOf(from: string): number | null {
  try {
    const { version } = createRequire(from)("typescript/package.json") as { version: string };
    return Number.parseInt(version, 10);
  } catch {
    return null;
  }
}

const settingsByConfig = new Map<string, ProjectSettings>();
const configByFolder = new Map<string, string | null>();

function configAbove(folder: string): string | null {
  const known = configByFolder.get(folder);
  if (known !== undefined) return known;
  const here = join(folder, "tsconfig.json");
  const above = dirname(folder);
  const found = existsSync(here) ? here : above === folder ? null : configAbove(above);
  configByFolder.set(folder, found);
  return found;
}

/** Those of the tsconfig.json nearest above a file; a package's own are its builder's business. */
export function settingsFor(source: string): ProjectSettings {
  const near = source.includes(`${sep}node_modules${sep}`) ? null : configAbove(dirname(source));
  const config = near === null ? null : referenced(near, readWritten(near), source);
  const known = settingsByConfig.get(config ?? "");
  if (known !== undefined) return known;
  const merged = config === null ? nothing : merge(config, readWritten(config), config, [config]);
  const settings = settingsOf(merged, config);
  settingsByConfig.set(config ?? "", settings);
  return settings;
}

function settingsOf({ options, paths, baseUrl }: Merged, config: string | null): ProjectSettings {
  const module = options.module?.toLowerCase() ?? "";
  const target = options.target?.toLowerCase() ?? "";
  const isOld = /^es(3|5|6|20(1\d|2[01]))$/.test(target);
  // Before TypeScript 6, interop had to be asked for.
  const isAsked = module === "commonjs" && config !== null && (majorOf(config) ?? 6) < 6;
  return {
    paths,
    baseUrl,
    jsx: options.jsx === "react" ? "classic" : options.jsx === "react-jsxdev" ? "development" : "automatic",
    jsxFactory: options.jsxFactory ?? "React.createElement",
    jsxFragment: options.jsxFragmentFactory ?? "React.Fragment",
    jsxSource: options.jsxImportSource ?? "react",
    hasLegacyDecorators: options.experimentalDecorators ?? false,
    hasDecoratorMetadata: options.emitDecoratorMetadata ?? false,
    definesFields: options.useDefineForClassFields ?? !isOld,
    isVerbatim: options.verbatimModuleSyntax ?? false,
    hasInterop: options.esModuleInterop ?? !isAsked,
    isBundled: /^(es(6|20\d\d|next)|preserve)$/.test(module),
  };
}
