// The real SDK of OpenTelemetry around a test: what Idem's spans are made by, and what they are once they are exported.
import { context, propagation, trace } from "@opentelemetry/api";
import { InMemorySpanExporter, type ReadableSpan, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { NodeTracerProvider } from "@opentelemetry/sdk-trace-node";
import { onTestFinished } from "vitest";
import { ManualPlatform } from "../platform/manual-platform.ts";
import { registeredTelemetry } from "../platform/open-telemetry.ts";
import { Idem } from "../sdk/client.ts";
import type { IdemOptions } from "../sdk/client-options.ts";
import { MemoryStore } from "../store/memory/store.ts";

/** Until the test is over every span of this process is kept. */
export function recordSpans() {
  const exporter = new InMemorySpanExporter();
  const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  provider.register();
  onTestFinished(async () => {
    trace.disable();
    context.disable();
    propagation.disable();
    await provider.shutdown();
  });
  const all = (): readonly ReadableSpan[] => exporter.getFinishedSpans();
  return {
    all,
    named: (name: string) => all().filter((span) => span.name === name),
    one: (name: string): ReadableSpan => {
      const found = all().filter((span) => span.name === name);
      if (found.length !== 1) throw new Error(`${found.length} spans "${name}" of ${all().map((span) => span.name)}`);
      return found[0]!;
    },
    forget: () => exporter.reset(),
  };
}

/** Traced clients over one store, whose time is moved by the test. */
export function tracedWorld() {
  const platform = Object.assign(new ManualPlatform(), { openTelemetry: registeredTelemetry });
  const store = new MemoryStore(platform);
  const clients: Idem[] = [];
  const settle = async () => {
    for (let i = 0; i < 2; i++) for (const each of clients) await each.idle();
  };
  onTestFinished(async () => {
    for (const each of clients) await each.stop({ grace: 0 });
  });
  return {
    platform,
    store,
    settle,
    client: (over: Partial<IdemOptions> = {}): Idem => {
      const made = new Idem({ id: "shop", store, logger: false, radar: false, ...over, platform });
      clients.push(made);
      return made;
    },
    advance: (ms: number) => platform.advance(ms, settle),
  };
}

export const parentOf = (span: ReadableSpan): string | undefined => span.parentSpanContext?.spanId;
export const idOf = (span: ReadableSpan): string => span.spanContext().spanId;
export const traceOfSpan = (span: ReadableSpan): string => span.spanContext().traceId;

const shown = [
  "idem.attempt",
  "idem.effect.outcome",
  "idem.run.outcome",
  "idem.duplicate_of",
  "idem.decision.reason",
  "error.type",
] as const;

/** Traces as trees of text, in the order their spans began, with what each says and where links lead. */
export function drawTraces(spans: readonly ReadableSpan[]): string {
  const sorted = spans.toSorted((a, b) => a.startTime[0] - b.startTime[0] || a.startTime[1] - b.startTime[1]);
  const traces = [...new Set(sorted.map(traceOfSpan))];
  const saidBy = (span: ReadableSpan): string[] => [
    ...shown.flatMap((name) => (span.attributes[name] === undefined ? [] : `${name} = ${span.attributes[name]}`)),
    ...span.links.map(({ context: to }) => {
      const first = sorted.find((each) => idOf(each) === to.spanId);
      return `link to trace ${traces.indexOf(to.traceId) + 1}: ${first?.name}`;
    }),
  ];
  const drawn = (all: readonly ReadableSpan[], lead: string): { tree: string; said: string }[] =>
    all.flatMap((span, i) => {
      const isLast = i === all.length - 1;
      const below = `${lead}${isLast ? "   " : "│  "}`;
      const children = sorted.filter((each) => parentOf(each) === idOf(span));
      const [first = "", ...more] = saidBy(span);
      return [
        { tree: `${lead}${isLast ? "└─ " : "├─ "}${span.name}`, said: first },
        ...more.map((said) => ({ tree: `${below}${children.length > 0 ? "│" : ""}`, said })),
        ...drawn(children, below),
      ];
    });
  const parts = traces.map((traceId, i) => {
    const of = sorted.filter((span) => traceOfSpan(span) === traceId);
    const roots = of.filter((span) => !of.some((each) => idOf(each) === parentOf(span)));
    return [{ tree: `trace ${i + 1}`, said: "" }, ...drawn(roots, "")];
  });
  const width = Math.max(...parts.flat().map(({ tree }) => tree.length)) + 3;
  const lines = parts.map((part) => part.map(({ tree, said }) => `${tree.padEnd(width)}${nameless(said)}`.trimEnd()));
  return lines.map((part) => part.join("\n")).join("\n\n");
}

/** Ids differ every time. */
const nameless = (text: string): string => text.replaceAll(/\b[0-7][0-9A-HJKMNP-TV-Z]{25}\b/g, "01…");
