// Spans by the API of OpenTelemetry, where somebody registered a provider; nothing is made, kept or asked where nobody did. Ids and times of spans are the
// provider's own: no decision is made by them, and one that throws costs its spans and no run. Whose child a span is is always said, by what rows keep: runs are executed inside of whatever woke them.
import { readError, serializeError } from "../model/user-errors.ts";
import type { OpenTelemetry, OtelContext, OtelSpan, OtelTracer, SpanContext } from "../platform/open-telemetry.ts";
import type { Platform } from "../platform/platform.ts";
import { type TracePoint, writeTraceparent } from "../protocol/traceparent.ts";
import { type AttributesOf, type SpanName, spanKinds, spans } from "./span-list.ts";

const statusError = 2;
/** By which every copy of the API finds the active span in a context. */
const spanKey = Symbol.for("OpenTelemetry Context Key SPAN");

/** A context without anything: what the API's own root is, which only the package has. */
class Context implements OtelContext {
  constructor(private readonly values: ReadonlyMap<symbol, unknown> = new Map()) {}
  getValue(key: symbol): unknown {
    return this.values.get(key);
  }
  setValue(key: symbol, value: unknown): OtelContext {
    return new Context(new Map(this.values).set(key, value));
  }
  deleteValue(key: symbol): OtelContext {
    return new Context(new Map([...this.values].filter(([each]) => each !== key)));
  }
}

const root = new Context();

/** A span of another process, or of an earlier life of this one. */
const remoteSpan = (at: TracePoint) => {
  const context: SpanContext = { ...at, isRemote: true };
  const span = {
    spanContext: () => context,
    isRecording: () => false,
    setAttribute: () => span,
    setAttributes: () => span,
    addEvent: () => span,
    addLink: () => span,
    addLinks: () => span,
    setStatus: () => span,
    updateName: () => span,
    recordException: () => {},
    end: () => {},
  };
  return span;
};

// The range of a date.
const dateMsMax = 8.64e15;

export const instantText = (at: number): string =>
  Math.abs(at) <= dateMsMax ? new Date(at).toISOString() : String(at);

export interface SpanStart<Name extends SpanName> {
  /** Fills the braces of its name. */
  readonly of: Readonly<Record<string, string>>;
  readonly attributes: AttributesOf<Name>;
  /** A span of this process, one that a row keeps, or none. */
  readonly parent: Traced<SpanName> | TracePoint | null;
  readonly links?: readonly TracePoint[];
}

/** The span that is at work in this turn, recorded or passed on; null for none. */
function activeSpan(platform: Pick<Platform, "openTelemetry">): TracePoint | null {
  const span = platform.openTelemetry?.()?.context?.active().getValue(spanKey) as OtelSpan | undefined;
  const at = span?.spanContext();
  return at === undefined || /^0*$/.test(at.traceId) ? null : at;
}

/** For a request to a server that keeps the events. */
export function activeTraceparent(platform: Pick<Platform, "openTelemetry">): string | null {
  const at = activeSpan(platform);
  return at === null ? null : writeTraceparent(at);
}

export class Tracing {
  private provider: NonNullable<OpenTelemetry["trace"]> | null = null;
  private tracer: OtelTracer | null = null;

  constructor(
    private readonly platform: Pick<Platform, "openTelemetry">,
    private readonly version: () => string,
  ) {}

  /** All that is asked where nobody listens. A provider that is registered later is found by the next to ask. */
  get isOn(): boolean {
    return this.platform.openTelemetry?.()?.trace !== undefined;
  }

  get active(): TracePoint | null {
    return activeSpan(this.platform);
  }

  /** Null where nobody listens. */
  start<Name extends SpanName>(name: Name, start: SpanStart<Name>): Traced<Name> | null {
    const api = this.platform.openTelemetry?.();
    const provider = api?.trace;
    if (api === undefined || provider === undefined) return null;
    if (provider !== this.provider) {
      this.tracer = quietly(() => provider.getTracer("idem", this.version()));
      this.provider = provider;
    }
    const { tracer } = this;
    if (tracer === null) return null;
    const described = spans[name];
    const { parent, links = [] } = start;
    const context = contextOf(parent);
    const options = {
      kind: spanKinds[described.kind],
      attributes: start.attributes as Record<string, string | number>,
      ...(links.length === 0 ? {} : { links: links.map((at) => ({ context: { ...at, isRemote: true } })) }),
    };
    const text = described.name.replace(/\{(\w+)\}/g, (_, what: string) => start.of[what] ?? what);
    const span = quietly(() => tracer.startSpan(text, options, context));
    return span === null ? null : new Traced(span, context.setValue(spanKey, span), api);
  }
}

function contextOf(parent: Traced<SpanName> | TracePoint | null): OtelContext {
  if (parent === null) return root;
  return parent instanceof Traced ? parent.context : root.setValue(spanKey, remoteSpan(parent));
}

function quietly<T>(ask: () => T): T | null {
  try {
    return ask();
  } catch {
    // The API says that it never throws; other users of the provider report it to its author.
    return null;
  }
}

/** A span that was begun here, and ends here once. */
export class Traced<Name extends SpanName> {
  private isOver = false;

  constructor(
    private readonly span: OtelSpan,
    readonly context: OtelContext,
    private readonly api: OpenTelemetry,
  ) {}

  /** For headers and rows. */
  get traceparent(): string {
    return writeTraceparent(this.span.spanContext());
  }

  /** Runs code of the user's: spans that are made in there are its children. */
  within<T>(run: () => T): T {
    return this.api.context === undefined ? run() : this.api.context.with(this.context, run);
  }

  set(attributes: AttributesOf<Name>): void {
    quietly(() => this.span.setAttributes(attributes as Record<string, string | number>));
  }

  /** `error` as it was thrown, whatever that is. */
  failed(error: unknown): void {
    const { name, message, stack, code } = readError(serializeError(error));
    quietly(() => {
      this.span.setAttributes({ "error.type": code ?? name });
      this.span.recordException({ name, message, ...(stack === undefined ? {} : { stack }) });
      this.span.setStatus({ code: statusError, message });
    });
  }

  end(): void {
    if (this.isOver) return;
    this.isOver = true;
    quietly(() => this.span.end());
  }
}
