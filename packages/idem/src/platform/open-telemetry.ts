// The parts Idem uses of what OpenTelemetry's API for JavaScript (1.x) leaves in the process once a provider is registered. Described by
// its shape and never imported (docs/decisions/0046-open-telemetry-is-looked-up.md); a test compares it with the real package.

export type SpanAttribute = string | number | boolean;

/** Which span of which trace; what `traceparent` writes. */
export interface SpanContext {
  readonly traceId: string;
  readonly spanId: string;
  readonly traceFlags: number;
  readonly isRemote?: boolean;
}

export interface OtelSpan {
  spanContext(): SpanContext;
  setAttributes(attributes: Record<string, SpanAttribute>): unknown;
  setStatus(status: { code: number; message?: string }): unknown;
  recordException(exception: { name: string; message: string; stack?: string }): void;
  end(): void;
}

/** Carried along by code that runs; never changed, only made anew. */
export interface OtelContext {
  getValue(key: symbol): unknown;
  setValue(key: symbol, value: unknown): OtelContext;
  deleteValue(key: symbol): OtelContext;
}

export interface OtelTracer {
  startSpan(
    name: string,
    options: {
      kind: number;
      attributes: Record<string, SpanAttribute>;
      links?: { context: SpanContext }[];
    },
    context: OtelContext,
  ): OtelSpan;
}

type Described = { description: string; unit: string };

export interface OtelObserving {
  observe(value: number, attributes: Record<string, string>): void;
}

export interface OtelMeter {
  createCounter(name: string, options: Described): { add(count: number, attributes: Record<string, string>): void };
  createHistogram(
    name: string,
    options: Described & { advice: { explicitBucketBoundaries: number[] } },
  ): { record(value: number, attributes: Record<string, string>): void };
  createObservableGauge(
    name: string,
    options: Described,
  ): {
    addCallback(observe: (to: OtelObserving) => Promise<void>): void;
    removeCallback(observe: (to: OtelObserving) => Promise<void>): void;
  };
}

/** Each is there once somebody registered it. */
export interface OpenTelemetry {
  readonly trace?: { getTracer(name: string, version: string): OtelTracer };
  readonly context?: {
    active(): OtelContext;
    with<T>(context: OtelContext, run: () => T): T;
  };
  readonly metrics?: { getMeter(name: string, version: string): OtelMeter };
}

/** Every copy of the API of major version 1 looks here. */
const place = Symbol.for("opentelemetry.js.api.1");

export const registeredTelemetry = (): OpenTelemetry | undefined =>
  (globalThis as unknown as Record<symbol, OpenTelemetry | undefined>)[place];
