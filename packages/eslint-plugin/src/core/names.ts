// The origin of a value, as far as one file shows: imports, aliases, destructuring, parameters with a type, and the types of a project that has them.
import type { TSESTree } from "@typescript-eslint/types";
import type { Scope, SourceCode } from "eslint";
import {
  bare,
  type Call,
  type Fn,
  isCall,
  isFunction,
  keyName,
  memberName,
  type Node,
  settled,
  textOf,
} from "./syntax.ts";

type Variable = Scope.Variable;

/** `stripe.invoices.create` of `const stripe = new Stripe(key)`: module "stripe", root "default", path "()", "invoices", "create". */
export interface Source {
  /** The package; null for what is of this project, of the platform or unknown. */
  readonly module: string | null;
  /** The root's name: the imported one, else the one it has here. */
  readonly root: string;
  /** Every name it had on the way. */
  readonly names: readonly string[];
  /** Members, and "()" for a call. */
  readonly path: readonly string[];
}

/** A type's name, and the package that declares it. */
interface TypeName {
  readonly module: string | null;
  readonly name: string;
}

interface TypeServices {
  readonly program?: unknown;
  getTypeAtLocation?(node: Node): {
    getSymbol?(): { name: string; declarations?: { getSourceFile(): { fileName: string } }[] } | undefined;
    getProperty?(name: string): unknown;
  };
}

const depthMax = 8;
const isLocal = (module: string): boolean => /^(\.|\/|@\/|~|#|src\/)/.test(module);

export class Names {
  readonly #source: SourceCode;
  readonly #services: TypeServices;
  #uses: Map<Fn, Node[]> | null = null;

  constructor(source: SourceCode) {
    this.#source = source;
    this.#services = (source.parserServices ?? {}) as TypeServices;
  }

  /** Null for what is declared nowhere in the file. */
  variable(id: TSESTree.Identifier): Variable | null {
    for (let scope: Scope.Scope | null = this.#source.getScope(id as never); scope; scope = scope.upper) {
      const found = scope.set.get(id.name);
      if (found) return found.defs.length === 0 ? null : found;
    }
    return null;
  }

  isGlobal(node: Node, name: string): boolean {
    const plain = bare(node);
    return plain.type === "Identifier" && plain.name === name && this.variable(plain) === null;
  }

  /** The expressions it may have its value from, each with the members taken of it. */
  valuesOf(id: TSESTree.Identifier): { readonly node: Node; readonly path: readonly string[] }[] {
    const variable = this.variable(id);
    if (variable === null) return [];
    const values: { node: Node; path: readonly string[] }[] = [];
    for (const def of variable.defs) {
      const node = def.node as Node;
      if (def.type === "Variable" && node.type === "VariableDeclarator") {
        const init = node.init ?? loopedOver(node);
        if (init !== null) values.push({ node: init, path: pathTo(node.id, def.name as Node) ?? [] });
      } else if (def.type === "Parameter" && isFunction(node)) {
        const at = node.params.findIndex((param) => pathTo(param, def.name as Node) !== null);
        for (const call of this.callsOf(node)) {
          const given = call.arguments[at];
          if (given && given.type !== "SpreadElement")
            values.push({ node: given, path: pathTo(node.params[at]!, def.name as Node)! });
        }
      }
    }
    for (const { writeExpr, init } of variable.references) {
      if (!init && writeExpr) values.push({ node: writeExpr as Node, path: [] });
    }
    return values;
  }

  /** The one expression it stands for, where there is one: `const` or never written again. */
  valueOf(node: Node): Node {
    let at = bare(node);
    for (let i = 0; i < depthMax && at.type === "Identifier"; i++) {
      const values = this.valuesOf(at);
      if (values.length !== 1 || values[0]!.path.length > 0) return at;
      at = bare(values[0]!.node);
    }
    return at;
  }

  /** The function it stands for: written here, or named and written elsewhere in the file. */
  functionOf(node: Node | null | undefined): Fn | null {
    if (!node) return null;
    const plain = bare(node);
    if (isFunction(plain)) return plain;
    if (plain.type !== "Identifier") return null;
    const def = this.variable(plain)?.defs[0];
    if (def?.type === "FunctionName") return def.node as unknown as Fn;
    const value = this.valueOf(plain);
    return isFunction(value) ? value : null;
  }

  objectOf(node: Node | null | undefined): TSESTree.ObjectExpression | null {
    if (!node) return null;
    const value = this.valueOf(node);
    return value.type === "ObjectExpression" ? value : null;
  }

  /** The places in this file where a function that has a name is called or handed on. */
  usesOf(fn: Fn): readonly Node[] {
    this.#uses ??= new Map();
    const known = this.#uses.get(fn);
    if (known !== undefined) return known;
    const uses = this.#nameOf(fn)?.references.flatMap(({ identifier, init }) =>
      init ? [] : [identifier as unknown as Node],
    );
    const found = uses ?? [];
    this.#uses.set(fn, found);
    return found;
  }

  callsOf(fn: Fn): Call[] {
    return this.usesOf(fn).flatMap((use) => (isCall(use.parent) && use.parent.callee === use ? [use.parent] : []));
  }

  #nameOf(fn: Fn): Variable | null {
    const id =
      fn.type === "FunctionDeclaration"
        ? fn.id
        : fn.parent.type === "VariableDeclarator" && fn.parent.id.type === "Identifier"
          ? fn.parent.id
          : null;
    return id === null ? null : this.variable(id);
  }

  sourceOf(node: Node, depth = 0): Source {
    const plain = settled(node);
    if (depth > depthMax) return unknown("");
    switch (plain.type) {
      case "Identifier":
        return this.#ofIdentifier(plain, depth);
      case "ThisExpression":
        return unknown("this");
      case "MemberExpression": {
        const name = memberName(plain);
        const object = bare(plain.object);
        if (object.type === "ThisExpression" && name !== null) return this.#ofField(object, name, depth);
        const source = this.sourceOf(object, depth + 1);
        return { ...source, path: [...source.path, name ?? "[]"] };
      }
      case "NewExpression":
      case "CallExpression": {
        const module = required(plain);
        if (module !== null) return { module: isLocal(module) ? null : module, root: "default", names: [], path: [] };
        const source = this.sourceOf(plain.callee, depth + 1);
        return { ...source, path: [...source.path, "()"] };
      }
      case "TaggedTemplateExpression": {
        const source = this.sourceOf(plain.tag, depth + 1);
        return { ...source, path: [...source.path, "()"] };
      }
      case "LogicalExpression":
        return this.sourceOf(plain.left, depth + 1);
      case "ImportExpression": {
        const module = textOf(plain.source);
        return { ...unknown("*"), module: module === null || isLocal(module) ? null : module };
      }
      default:
        return unknown("");
    }
  }

  /** By its type, where the parser had a project: null without one, and for what has no name. */
  typeOf(node: Node): TypeName | null {
    if (!this.#services.program || !this.#services.getTypeAtLocation) return null;
    try {
      const symbol = this.#services.getTypeAtLocation(node).getSymbol?.();
      if (!symbol || symbol.name.startsWith("__")) return null;
      const file = symbol.declarations?.[0]?.getSourceFile().fileName ?? "";
      const [, module = null] = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file) ?? [];
      return { module: module?.startsWith("@types/") ? module.slice(7) : module, name: symbol.name };
    } catch {
      return null;
    }
  }

  /**
   * The same by types: `deps.billing.invoices.create`, where billing is a Stripe, comes from "stripe" with the members behind it. Null where no
   * part of it is of a package.
   */
  typedSource(callee: Node): Source | null {
    const members: string[] = [];
    let found: Source | null = null;
    let at = bare(callee);
    while (at.type === "MemberExpression" || at.type === "CallExpression") {
      members.unshift(at.type === "CallExpression" ? "()" : (memberName(at) ?? "[]"));
      at = bare(at.type === "CallExpression" ? at.callee : at.object);
      const type = this.typeOf(at);
      if (type?.module) found = { module: type.module, root: type.name, names: [], path: ["()", ...members] };
    }
    return found;
  }

  /** Whether its type has all of these members. */
  hasMembers(node: Node, ...members: string[]): boolean {
    if (!this.#services.program || !this.#services.getTypeAtLocation) return false;
    try {
      const type = this.#services.getTypeAtLocation(node);
      return members.every((name) => type.getProperty?.(name) !== undefined);
    } catch {
      return false;
    }
  }

  #ofIdentifier(id: TSESTree.Identifier, depth: number): Source {
    const variable = this.variable(id);
    const def = variable?.defs[0];
    const node = def?.node as Node | undefined;
    if (!variable || !def || !node) return unknown(id.name);
    if (def.type === "ImportBinding") {
      const from = importedFrom(def.parent as unknown as Node);
      if (from === null) return unknown(id.name);
      const root =
        node.type === "ImportSpecifier"
          ? node.imported.type === "Identifier"
            ? node.imported.name
            : node.imported.value
          : node.type === "ImportDefaultSpecifier"
            ? "default"
            : "*";
      return { module: isLocal(from) ? null : from, root: isLocal(from) ? id.name : root, names: [id.name], path: [] };
    }
    if (def.type === "Variable" && node.type === "VariableDeclarator") {
      const typed = this.#ofAnnotation(node.id, depth);
      if (typed !== null && node.id.type === "Identifier") return { ...typed, names: [...typed.names, id.name] };
      const init = node.init ?? loopedOver(node);
      if (init !== null && !isFunction(bare(init))) {
        const source = this.sourceOf(init, depth + 1);
        const path = pathTo(node.id, def.name as Node) ?? [];
        return { ...source, names: [...source.names, id.name], path: [...source.path, ...path] };
      }
      const [assigned] = variable.references.flatMap(({ writeExpr }) => (writeExpr ? [writeExpr as Node] : []));
      if (assigned && node.init === null) {
        const source = this.sourceOf(assigned, depth + 1);
        return { ...source, names: [...source.names, id.name] };
      }
    }
    if (def.type === "Parameter" && isFunction(node)) {
      const param = node.params.find((each) => pathTo(each, def.name as Node) !== null);
      const path = param === undefined ? [] : pathTo(param, def.name as Node)!;
      const typed = param === undefined || path.length > 0 ? null : this.#ofAnnotation(param, depth);
      if (typed !== null) return { ...typed, names: [...typed.names, id.name] };
      return { module: null, root: path.length > 0 ? path.join(".") : id.name, names: [id.name], path: [] };
    }
    return unknown(id.name);
  }

  /** `stripe: Stripe` says what it is as well as a constructor does. */
  #ofAnnotation(node: Node, depth: number): Source | null {
    const plain = node.type === "TSParameterProperty" ? node.parameter : node;
    const annotation = "typeAnnotation" in plain ? plain.typeAnnotation : undefined;
    if (annotation?.type !== "TSTypeAnnotation") return null;
    let type = annotation.typeAnnotation;
    if (type.type === "TSUnionType") {
      const named = type.types.find((each) => each.type === "TSTypeReference");
      if (named === undefined) return null;
      type = named;
    }
    if (type.type !== "TSTypeReference" || type.typeName.type !== "Identifier") return null;
    const source = this.#ofIdentifier(type.typeName, depth + 1);
    return source.module === null ? null : { ...source, path: [...source.path, "()"] };
  }

  /** `this.stripe`: the field, or the parameter of the constructor that is one. */
  #ofField(self: Node, name: string, depth: number): Source {
    let at: Node | undefined = self;
    while (at && at.type !== "ClassBody") at = at.parent;
    for (const member of at?.type === "ClassBody" ? at.body : []) {
      if (member.type === "PropertyDefinition" && member.key.type === "Identifier" && member.key.name === name) {
        const typed = this.#ofAnnotation(member, depth);
        if (typed !== null) return { ...typed, names: [...typed.names, name] };
        if (member.value !== null) {
          const source = this.sourceOf(member.value, depth + 1);
          return { ...source, names: [...source.names, name] };
        }
      }
      if (member.type === "MethodDefinition" && member.kind === "constructor") {
        for (const param of member.value.params) {
          if (param.type !== "TSParameterProperty") continue;
          const { parameter } = param;
          if (parameter.type !== "Identifier" || parameter.name !== name) continue;
          const typed = this.#ofAnnotation(param, depth);
          if (typed !== null) return { ...typed, names: [...typed.names, name] };
        }
      }
    }
    return unknown(name);
  }
}

const unknown = (root: string): Source => ({ module: null, root, names: root === "" ? [] : [root], path: [] });

function importedFrom(node: Node): string | null {
  if (node.type === "ImportDeclaration") return node.source.value;
  // import stripe = require("stripe")
  if (node.type !== "TSImportEqualsDeclaration" || node.moduleReference.type !== "TSExternalModuleReference")
    return null;
  return textOf(node.moduleReference.expression);
}

function required(call: Call): string | null {
  const isRequire = call.callee.type === "Identifier" && call.callee.name === "require";
  return isRequire && call.arguments.length === 1 ? textOf(call.arguments[0]) : null;
}

/** The iterable of a loop's variable. */
function loopedOver(declarator: TSESTree.VariableDeclarator): Node | null {
  const loop = declarator.parent.parent;
  return loop?.type === "ForOfStatement" && loop.left === declarator.parent ? loop.right : null;
}

/** The members a pattern takes to come to this name; null where the name is not of it. */
export function pathTo(pattern: Node, name: Node): string[] | null {
  switch (pattern.type) {
    case "Identifier":
      return pattern === name ? [] : null;
    case "TSParameterProperty":
      return pathTo(pattern.parameter, name);
    case "AssignmentPattern":
      return pathTo(pattern.left, name);
    case "RestElement":
      return pathTo(pattern.argument, name) === null ? null : ["..."];
    case "ArrayPattern":
      for (const each of pattern.elements) {
        const path = each === null ? null : pathTo(each, name);
        if (path !== null) return ["[]", ...path];
      }
      return null;
    case "ObjectPattern":
      for (const each of pattern.properties) {
        if (each.type === "RestElement") {
          if (pathTo(each, name) !== null) return ["..."];
          continue;
        }
        const path = pathTo(each.value, name);
        if (path !== null) return [keyName(each) ?? "[]", ...path];
      }
      return null;
    default:
      return null;
  }
}
