// The rules' knowledge of one file. Made once for each, by whichever rule asks first.
import type { SourceCode } from "eslint";
import { Durable } from "./durable.ts";
import { type Effect, readEffect } from "./effects.ts";
import { isStepKey, type KeyState, keyOfCall } from "./keys.ts";
import { Names } from "./names.ts";
import { bare, type Call, descend, isCall, memberName, type Node } from "./syntax.ts";

export class File {
  readonly source: SourceCode;
  readonly names: Names;
  readonly durable: Durable;
  readonly calls: readonly Call[];
  readonly #nodes: readonly Node[];
  #effects: readonly Effect[] | null = null;
  readonly #keys = new Map<Effect, KeyState>();

  constructor(source: SourceCode) {
    this.source = source;
    this.names = new Names(source);
    const root = source.ast as unknown as Node;
    this.#nodes = [...descend(root)].filter((node) => isCall(node) || node.type === "TaggedTemplateExpression");
    this.calls = this.#nodes.filter(isCall);
    const imports =
      root.type === "Program"
        ? root.body.flatMap((each) => (each.type === "ImportDeclaration" ? [each.source.value] : []))
        : [];
    this.durable = new Durable(
      this.names,
      this.calls,
      imports.some((module) => /^inngest(\/|$)/.test(module)),
    );
  }

  get effects(): readonly Effect[] {
    this.#effects ??= this.#nodes.flatMap(
      (node) => readEffect(this.names, this.durable, node, (each) => this.isClient(each)) ?? [],
    );
    return this.#effects;
  }

  keyOf(effect: Effect): KeyState {
    const known = this.#keys.get(effect);
    if (known !== undefined) return known;
    const state = keyOfCall(this.names, this.durable, effect);
    this.#keys.set(effect, state);
    return state;
  }

  isStepKey(node: Node): boolean {
    const plain = bare(node);
    return plain.type === "Identifier" && isStepKey(this.names, this.durable, plain);
  }

  /** A client of Idem or Inngest: constructed, called so, used so, or of that type. */
  isClient(node: Node): boolean {
    const { module, root, names, path } = this.names.sourceOf(node);
    // Also of a whole module: `new inngest_1.Inngest()`.
    if (module === "idem" || module === "inngest")
      return path.at(-1) === "()" && /^(Idem|Inngest)$/.test([root, ...path].at(-2)!);
    if (module !== null) return false;
    const name = path.at(-1) ?? names.at(-1) ?? root;
    if (/^(idem|inngest)(Client)?$/i.test(name)) return true;
    if (path.length === 0 && this.#makers.has(name)) return true;
    return this.names.hasMembers(node, "createFunction", "send");
  }

  #made: ReadonlySet<string> | null = null;
  /** Names on which createFunction is called. */
  get #makers(): ReadonlySet<string> {
    this.#made ??= new Set(
      this.durable.functions.flatMap(({ call }) => {
        const callee = bare(call.callee);
        const object = callee.type === "MemberExpression" && memberName(callee) !== null ? bare(callee.object) : null;
        return object?.type === "Identifier" ? [object.name] : [];
      }),
    );
    return this.#made;
  }

  text(node: Node): string {
    return this.source.getText(node as never);
  }

  /** A comment on the node's own line, or on the lines right above it. */
  remarkBeside(node: Node): string | null {
    const comments = this.source.getAllComments() as unknown as {
      value: string;
      loc: { start: { line: number }; end: { line: number } };
    }[];
    let line = node.loc.start.line;
    const own = comments.filter(({ loc }) => loc.start.line === line || loc.end.line === node.loc.end.line);
    const above: string[] = [];
    for (;;) {
      const next = comments.find(({ loc }) => loc.end.line === line - 1);
      if (next === undefined || !this.#standsAlone(next.loc.start.line)) break;
      above.unshift(next.value);
      line = next.loc.start.line;
    }
    const all = [...above, ...own.map(({ value }) => value)].join(" ").trim();
    return all === "" ? null : all;
  }

  #standsAlone(line: number): boolean {
    return /^\s*(\/\/|\/\*|\*)/.test(this.source.lines[line - 1] ?? "");
  }
}

const files = new WeakMap<object, File>();

export function fileOf(source: SourceCode): File {
  const known = files.get(source.ast);
  if (known !== undefined) return known;
  const file = new File(source);
  files.set(source.ast, file);
  return file;
}
