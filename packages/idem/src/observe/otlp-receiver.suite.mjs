// A receiver of OTLP over HTTP in a process of its own: what the official exporter sends, a span a line on standard output. It stands where a collector would.
import { createServer } from "node:http";

const plainOf = ({ stringValue, intValue, boolValue }) => stringValue ?? intValue ?? boolValue;
const named = (attributes) => Object.fromEntries(attributes.map(({ key, value }) => [key, plainOf(value)]));

const server = createServer(async (request, response) => {
  const parts = [];
  for await (const part of request) parts.push(part);
  const { resourceSpans } = JSON.parse(Buffer.concat(parts).toString("utf8"));
  // Each process sends to a path of its own.
  const [, from] = request.url.split("/");
  for (const { scopeSpans } of resourceSpans) {
    for (const { name, traceId, spanId, parentSpanId, attributes } of scopeSpans.flatMap(({ spans }) => spans)) {
      const span = {
        from,
        name,
        traceId,
        spanId,
        parentSpanId: parentSpanId ?? null,
        attributes: named(attributes),
      };
      process.stdout.write(`${JSON.stringify(span)}\n`);
    }
  }
  response.writeHead(200, { "content-type": "application/json" }).end("{}");
});
server.listen(0, "127.0.0.1", () => process.stdout.write(`${JSON.stringify({ port: server.address().port })}\n`));
