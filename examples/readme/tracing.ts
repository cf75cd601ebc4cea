// The code of docs/observability.md.
// #region set-up
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { BatchSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { NodeTracerProvider } from "@opentelemetry/sdk-trace-node";

// To OTEL_EXPORTER_OTLP_ENDPOINT, or to a collector on this machine, at http://localhost:4318.
const provider = new NodeTracerProvider({ spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())] });
provider.register();
// A collector that is away costs what was not sent, and not how the program ends.
process.once("beforeExit", () => provider.shutdown().catch((error) => console.warn("traces are lost:", error.message)));

// #endregion

export { provider };
