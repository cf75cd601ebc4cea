// The durable functions of a file, the calls that are steps, and for any node: is it in a step, beside one, or elsewhere?
import type { TSESTree } from "@typescript-eslint/types";
import type { Names } from "./names.ts";
import {
  ancestors,
  argumentsOf,
  bare,
  type Call,
  type Fn,
  isCall,
  isFunction,
  isWithin,
  memberName,
  type Node,
  propertyOf,
  textOf,
} from "./syntax.ts";

export type Flavor = "idem" | "inngest";

export interface Trigger {
  readonly kind: "event" | "cron" | "invoke";
  /** The event's name; null where it is not written here. */
  readonly event: string | null;
}

export interface DurableFunction {
  readonly call: Call;
  readonly flavor: Flavor;
  readonly options: TSESTree.ObjectExpression | null;
  /** Null where they are not written here. */
  readonly triggers: readonly Trigger[] | null;
  /** The function's own code, then onFailure and onCancel. */
  readonly handlers: readonly Fn[];
  readonly id: string;
}

export interface Step {
  readonly call: Call;
  readonly tool: string;
  readonly id: Node | null;
  /** As a message names it. */
  readonly name: string;
  readonly body: Fn | null;
}

/** Where a node runs: in a step, or in the code of a function between steps. */
export type Place =
  | { readonly kind: "step"; readonly step: Step }
  | { readonly kind: "between"; readonly fn: DurableFunction | null };

const tools = new Set([
  "run",
  "effect",
  "transaction",
  "sleep",
  "sleepUntil",
  "waitForEvent",
  "waitForSignal",
  "sendEvent",
  "sendSignal",
  "invoke",
  "fetch",
]);
const aiTools = new Set(["infer", "wrap"]);

/** Steps that run code or ask for something: two of them in a race are two pieces of work. */
export const workingTools = new Set(["run", "effect", "transaction", "invoke", "fetch", "ai.infer", "ai.wrap"]);

export class Durable {
  readonly functions: readonly DurableFunction[];
  readonly steps: readonly Step[];
  readonly #names: Names;
  readonly #steps = new Map<Call, Step>();
  readonly #bodies = new Map<Fn, Step[]>();
  readonly #handlers = new Map<Fn, DurableFunction>();
  readonly #places = new Map<Fn, readonly Place[] | "inline">();

  constructor(names: Names, calls: readonly Call[], importsInngest: boolean) {
    this.#names = names;
    for (const call of calls) {
      const step = this.#readStep(call);
      if (step === null) continue;
      this.#steps.set(call, step);
      for (const body of this.#bodiesOf(step)) this.#bodies.set(body, [...(this.#bodies.get(body) ?? []), step]);
    }
    this.steps = [...this.#steps.values()];
    this.functions = calls.flatMap((call) => this.#readFunction(call, importsInngest) ?? []);
    for (const fn of this.functions) for (const handler of fn.handlers) this.#handlers.set(handler, fn);
  }

  stepOf(node: Node): Step | null {
    return isCall(node) ? (this.#steps.get(node) ?? null) : null;
  }

  /** Everywhere it may run, helpers of the file followed to where they are called; nothing where no durable function reaches it. */
  placesOf(node: Node): readonly Place[] {
    for (const each of ancestors(node)) {
      if (!isFunction(each)) continue;
      const places = this.#placesOfFunction(each);
      if (places !== "inline") return places;
    }
    return [];
  }

  /** The step whose body it stands in by its place in the text, the innermost one. */
  stepAround(node: Node): Step | null {
    for (const each of ancestors(node)) {
      const [step] = isFunction(each) ? (this.#bodies.get(each) ?? []) : [];
      if (step !== undefined && step.call !== node) return step;
    }
    return null;
  }

  functionAround(node: Node): DurableFunction | null {
    for (const each of ancestors(node)) {
      const fn = isFunction(each) ? this.#handlers.get(each) : undefined;
      if (fn !== undefined) return fn;
    }
    return null;
  }

  isStepTools(node: Node, depth = 0): boolean {
    const plain = bare(node);
    if (depth > 4) return false;
    if (plain.type === "MemberExpression") return memberName(plain) === "step";
    if (plain.type !== "Identifier") return false;
    const def = this.#names.variable(plain)?.defs[0];
    if (def === undefined) return plain.name === "step";
    if (def.type === "Parameter") {
      const { root } = this.#names.sourceOf(plain);
      if (root === "step" || root.endsWith(".step")) return true;
    }
    if (def.type === "Variable") {
      const values = this.#names.valuesOf(plain);
      if (
        values.some(
          ({ node: from, path }) => path.at(-1) === "step" || (path.length === 0 && this.isStepTools(from, depth + 1)),
        )
      )
        return true;
    }
    return this.#names.hasMembers(plain, "run", "sleep", "sendEvent", "waitForEvent");
  }

  #toolOf(call: Call): string | null {
    if (call.type !== "CallExpression") return null;
    const callee = bare(call.callee);
    if (callee.type === "Identifier") {
      const [value] = this.#names.variable(callee)?.defs[0]?.type === "Variable" ? this.#names.valuesOf(callee) : [];
      const name =
        value?.path.length === 1 ? value.path[0]! : value?.path.length === 0 ? memberName(bare(value.node)) : null;
      if (value === undefined || name === null || !tools.has(name)) return null;
      const from = bare(value.node);
      const object = value.path.length === 1 ? from : from.type === "MemberExpression" ? from.object : null;
      return object !== null && this.isStepTools(object) ? name : null;
    }
    if (callee.type !== "MemberExpression") return null;
    const name = memberName(callee);
    if (name === null) return null;
    if (tools.has(name) && this.isStepTools(callee.object)) return name;
    const object = bare(callee.object);
    if (!aiTools.has(name) || memberName(object) !== "ai" || object.type !== "MemberExpression") return null;
    return this.isStepTools(object.object) ? `ai.${name}` : null;
  }

  #readStep(call: Call): Step | null {
    const tool = this.#toolOf(call);
    if (tool === null || call.arguments.length === 0) return null;
    const given = argumentsOf(call);
    const first = given[0];
    // Inngest's step.fetch has no id of its own.
    const id = first === undefined || (tool === "fetch" && /^https?:/.test(textOf(first) ?? "")) ? null : first;
    const object = id === null ? null : this.#names.objectOf(id);
    const text = textOf(object === null ? id : propertyOf(object, "id")?.value);
    const last = tool === "run" || tool === "ai.wrap" ? given[1] : given.at(-1);
    return {
      call,
      tool,
      id: object === null ? id : (propertyOf(object, "id")?.value ?? null),
      name: text === null ? `step.${tool}` : `step "${text}"`,
      body: this.#names.functionOf(last) ?? this.#madeBody(last),
    };
  }

  /** `chargeFor(event)`: a helper of the file that makes the body. */
  #madeBody(node: Node | undefined): Fn | null {
    const call = node === undefined ? null : bare(node);
    const maker = isCall(call) ? this.#names.functionOf(call.callee) : null;
    if (maker === null) return null;
    const { body } = maker;
    const made = body.type === "BlockStatement" ? body.body.at(-1) : body;
    return this.#names.functionOf(made?.type === "ReturnStatement" ? made.argument : (made as Node | undefined));
  }

  /** The functions that are run as part of a step: its body, and what its options have to look up with. */
  #bodiesOf({ call, tool, body }: Step): Fn[] {
    const options = tool === "effect" ? this.#names.objectOf(call.arguments[1] as Node | undefined) : null;
    const asked = options?.properties.flatMap((each) =>
      each.type === "Property" ? (this.#names.functionOf(each.value) ?? []) : [],
    );
    return [...(body === null ? [] : [body]), ...(asked ?? [])];
  }

  #readFunction(call: Call, importsInngest: boolean): DurableFunction | null {
    const callee = bare(call.callee);
    if (callee.type !== "MemberExpression" || memberName(callee) !== "createFunction") return null;
    const given = argumentsOf(call);
    if (given.length < 2 || given.length > 3) return null;
    const options = this.#names.objectOf(given[0]);
    const handler = this.#names.functionOf(given.at(-1));
    const ends = ["onFailure", "onCancel"].flatMap((name) => {
      const value = options === null ? undefined : propertyOf(options, name)?.value;
      return this.#names.functionOf(value) ?? [];
    });
    const written = options === null ? null : textOf(propertyOf(options, "id")?.value);
    return {
      call,
      flavor: this.#flavorOf(callee.object, importsInngest),
      options,
      triggers: this.#readTriggers(given.length === 3 ? given[1] : triggersOf(options)),
      handlers: [...(handler === null ? [] : [handler]), ...ends],
      id: written ?? "this function",
    };
  }

  #flavorOf(client: Node, importsInngest: boolean): Flavor {
    const { module, names } = this.#names.sourceOf(client);
    if (module === "idem" || module === "inngest") return module;
    const type = this.#names.typeOf(client)?.name;
    if (type === "Idem" || type === "Inngest") return type === "Idem" ? "idem" : "inngest";
    if (importsInngest || names.some((name) => /inngest/i.test(name))) return "inngest";
    return names.some((name) => /idem/i.test(name)) ? "idem" : "inngest";
  }

  #readTriggers(node: Node | null | undefined): Trigger[] | null {
    if (node === undefined) return [];
    if (node === null) return null;
    const value = this.#names.valueOf(node);
    if (value.type === "ArrayExpression") {
      const each = value.elements.map((element) => (element === null ? [] : this.#readTriggers(element)));
      return each.some((triggers) => triggers === null) ? null : (each as Trigger[][]).flat();
    }
    if (value.type === "ObjectExpression") {
      const event = propertyOf(value, "event");
      if (event !== null) return [{ kind: "event", event: this.#eventName(event.value) }];
      return propertyOf(value, "cron") === null ? null : [{ kind: "cron", event: null }];
    }
    // createFunction({ name }, "event/name", …) of the first SDKs.
    const text = textOf(value);
    if (text !== null) return [{ kind: "event", event: text }];
    if (value.type !== "CallExpression") return null;
    const name = memberName(bare(value.callee)) ?? (value.callee.type === "Identifier" ? value.callee.name : "");
    if (name === "cron" || name === "invoke") return [{ kind: name, event: null }];
    return name === "eventType" ? [{ kind: "event", event: textOf(value.arguments[0] as Node) }] : null;
  }

  #eventName(node: Node): string | null {
    const value = this.#names.valueOf(node);
    return textOf(value) ?? (isCall(value) ? textOf(value.arguments[0] as Node | undefined) : null);
  }

  #placesOfFunction(fn: Fn): readonly Place[] | "inline" {
    const known = this.#places.get(fn);
    if (known !== undefined) return known;
    this.#places.set(fn, []); // A helper that calls itself adds nothing.
    const places = this.#findPlaces(fn);
    this.#places.set(fn, places);
    return places;
  }

  #findPlaces(fn: Fn): readonly Place[] | "inline" {
    const steps = this.#bodies.get(fn) ?? [];
    const own: Place[] = steps.map((step) => ({ kind: "step", step }));
    const durable = this.#handlers.get(fn);
    if (durable !== undefined) return [...own, { kind: "between", fn: durable }];
    if (this.#takesStepTools(fn)) return [...own, { kind: "between", fn: null }];
    const isNamed = fn.type === "FunctionDeclaration" || fn.parent.type === "VariableDeclarator";
    if (!isNamed) {
      if (steps.length > 0) return own;
      return fn.parent.type === "MethodDefinition" ? [] : "inline";
    }
    const elsewhere = this.#names
      .usesOf(fn)
      .filter((use) => !steps.some(({ call }) => isCall(use.parent) && use.parent === call));
    return [...own, ...elsewhere.filter((use) => !isWithin(use, fn)).flatMap((use) => this.placesOf(use))];
  }

  /** A handler by its own parameter: `async ({ event, step }) => …`, wherever it is handed to. */
  #takesStepTools(fn: Fn): boolean {
    return this.steps.some(({ call }) => {
      if (!isWithin(call, fn)) return false;
      const callee = bare(call.callee);
      let object: Node = callee.type === "MemberExpression" ? callee.object : callee;
      while (object.type === "MemberExpression") object = object.object;
      if (object.type !== "Identifier") return false;
      const def = this.#names.variable(object)?.defs[0];
      return def?.type === "Parameter" && (def.node as unknown as Node) === fn;
    });
  }
}

function triggersOf(options: TSESTree.ObjectExpression | null): Node | null | undefined {
  if (options === null) return null;
  const triggers = propertyOf(options, "triggers") ?? propertyOf(options, "trigger");
  if (triggers !== null) return triggers.value;
  return options.properties.some(({ type }) => type === "SpreadElement") ? null : undefined;
}
