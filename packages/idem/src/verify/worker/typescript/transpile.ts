// TypeScript to what Node runs, file by file, without looking at types.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, extname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { settingsFor } from "./tsconfig.ts";

export type ModuleKind = "module" | "commonjs";

/** The used part of it: this package compiles without it. */
interface Swc {
  transformSync(source: string, options: object): { readonly code: string };
}

const packageName = "@swc/wasm";
// Before anybody replaces them.
const readText = (file: string): string => readFileSync(file, "utf8");

let opened: Swc | null = null;
/** 18 MB of WebAssembly: loaded with the first file to transpile. */
function swc(file: string): Swc {
  try {
    opened ??= createRequire(import.meta.url)(packageName) as Swc;
    return opened;
  } catch (error) {
    if ((error as { code?: unknown }).code !== "MODULE_NOT_FOUND") throw error;
    const needed = `npm install --save-dev ${packageName}`;
    throw new Error(`${file} is TypeScript, and what reads it is not installed here; "${needed}", and try again`);
  }
}

const known = new Map<string, string>();

/** The file's code, as it was when it was first asked for: every life runs the same. */
export function transpile(file: string, kind: ModuleKind): string {
  const name = `${kind} ${file}`;
  const before = known.get(name);
  if (before !== undefined) return before;
  const code = transpileText(readText(file), file, kind);
  known.set(name, code);
  return code;
}

function transpileText(source: string, file: string, kind: ModuleKind): string {
  const settings = settingsFor(file);
  const { jsx, hasLegacyDecorators } = settings;
  const isScript = /\.[cm]?jsx?$/.test(file);
  const hasJsx = /x$/.test(file) || isScript;
  const options = {
    filename: file,
    sourceFileName: pathToFileURL(file).href,
    sourceMaps: "inline",
    inlineSourcesContent: false,
    configFile: false,
    swcrc: false,
    isModule: kind === "module" || !isPlainScript(source) ? true : "commonjs",
    jsc: {
      target: "es2022",
      keepClassNames: true,
      parser: isScript
        ? { syntax: "ecmascript", jsx: hasJsx, decorators: true }
        : { syntax: "typescript", tsx: hasJsx, decorators: true },
      transform: {
        legacyDecorator: hasLegacyDecorators,
        decoratorMetadata: hasLegacyDecorators && settings.hasDecoratorMetadata,
        ...(hasLegacyDecorators ? {} : { decoratorVersion: "2023-11" }),
        useDefineForClassFields: settings.definesFields,
        verbatimModuleSyntax: settings.isVerbatim,
        react: {
          runtime: jsx === "classic" ? "classic" : "automatic",
          development: jsx === "development",
          pragma: settings.jsxFactory,
          pragmaFrag: settings.jsxFragment,
          ...(jsx === "classic" ? {} : { importSource: settings.jsxSource }),
        },
      },
    },
    module:
      kind === "module"
        ? { type: "es6" }
        : { type: "commonjs", exportInteropAnnotation: true, ignoreDynamic: true, noInterop: !settings.hasInterop },
  };
  const { transformSync } = swc(file);
  try {
    return transformSync(source, options).code;
  } catch (error) {
    throw new SyntaxError(`${file} cannot be read: ${plain(error)}`);
  }
}

// Its errors are drawn for a terminal, and end with the parts of the transpiler that gave up.
const plain = (error: unknown): string =>
  String(error instanceof Error ? error.message : error)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out.
    .replace(/\u001b\[[\d;]*m/g, "")
    .replace(/\n+Caused by:[\s\S]*$/, "")
    .replace(/^\s*[x×] /, "")
    .trim();

/** `require`, and nothing that only a module has. */
const isPlainScript = (source: string): boolean => !/^\s*(import|export)\b/m.test(source);

const kinds = new Map<string, ModuleKind>();

/** The module kind of a typed file that is imported. */
export function kindOf(file: string): ModuleKind {
  const ending = extname(file);
  if (ending === ".mts") return "module";
  if (ending === ".cts") return "commonjs";
  const known = kinds.get(file);
  if (known !== undefined) return known;
  const kind = decideKind(file);
  kinds.set(file, kind);
  return kind;
}

function decideKind(file: string): ModuleKind {
  const type = packageType(dirname(file));
  if (type === "module") return "module";
  if (type === null && settingsFor(file).isBundled) return "module";
  const source = readText(file);
  if (isPlainScript(source)) return "commonjs";
  // CommonJS cannot say these: a module even where package.json does not say so.
  return /\bimport\.meta\b|^(?:const .*= |export const .*= )?await\b/m.test(source) ? "module" : "commonjs";
}

const types = new Map<string, "module" | "commonjs" | null>();

function packageType(folder: string): "module" | "commonjs" | null {
  const known = types.get(folder);
  if (known !== undefined) return known;
  const found = readType(folder);
  types.set(folder, found);
  return found;
}

function readType(folder: string): "module" | "commonjs" | null {
  try {
    const { type } = JSON.parse(readText(join(folder, "package.json"))) as { type?: unknown };
    return type === "module" || type === "commonjs" ? type : null;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    const above = dirname(folder);
    return above === folder ? null : packageType(above);
  }
}
