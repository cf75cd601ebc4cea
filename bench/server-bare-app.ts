// An app that says what the SDK says and does nothing else: three checkpoints one after the other, then the result. Beside it the
// cost of the SDK shows apart from the server's own. It can be made as slow as the SDK is.
import { Agent, createServer, request } from "node:http";
import type { AddressInfo } from "node:net";

const [origin, slowMs = "0"] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true, maxSockets: 200 });
// sha1 of a, b, c and "complete".
const ids = {
  a: "86f7e437faa5a7fce15d1ddcb9eaeaea377667b8",
  b: "e9d71f5ee7c92d6dc9e92ffdad17b8bd49418f98",
  c: "84a516841ba77a5b4648de2cd0dfcb30ea46dbb4",
  complete: "0737c22d3bfae812339732d14d8c7dbd6dc4e09c",
};
const headers = { "content-type": "application/json", "x-inngest-sdk": "bare:v0", "x-inngest-req-version": "2" };

function beSlow(): void {
  const until = performance.now() + Number(slowMs);
  while (performance.now() < until);
}

function post(path: string, body: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const length = Buffer.byteLength(body);
    const outgoing = request(`${origin}${path}`, {
      method: "POST",
      agent,
      headers: { "content-type": "application/json", "content-length": length },
    });
    outgoing.on("response", (response) => {
      response.resume();
      response.on("end", () => {
        if (response.statusCode === 200) resolve();
        else reject(new Error(`${path} answered ${response.statusCode}`));
      });
    });
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}

const server = createServer((incoming, response) => {
  const chunks: Buffer[] = [];
  incoming.on("data", (chunk) => chunks.push(chunk));
  incoming.on("end", () => void answer(Buffer.concat(chunks).toString()).then((body) => response.end(body)));
  const answer = async (text: string): Promise<string> => {
    const { ctx, event } = JSON.parse(text);
    for (const [n, name] of (["a", "b", "c"] as const).entries()) {
      const step = {
        id: ids[name],
        op: "StepRun",
        name,
        displayName: name,
        userland: { id: name },
        opts: {},
        data: n + 1,
      };
      const { run_id, fn_id, qi_id, request_id, generation_id } = ctx;
      beSlow();
      await post(
        `/v1/checkpoint/${run_id}/async`,
        JSON.stringify({ run_id, fn_id, qi_id, request_id, generation_id, steps: [step], ts: Date.now() }),
      );
    }
    beSlow();
    response.writeHead(206, headers);
    return JSON.stringify([{ id: ids.complete, op: "RunComplete", data: { n: event.data.n, c: 3 } }]);
  };
});
process.on("message", (message) => {
  if (message === "cpu") process.send!({ cpu: process.cpuUsage() });
  if (message === "stop") process.exit(0);
});
server.listen(0, "127.0.0.1", async () => {
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/api/inngest`;
  const step = {
    id: "step",
    name: "step",
    runtime: { type: "http", url: `${url}?fnId=bench-three-steps&stepId=step` },
  };
  await post(
    "/fn/register",
    JSON.stringify({
      url,
      deployType: "ping",
      framework: "bare",
      appName: "bench",
      sdk: "bare:v0",
      v: "0.1",
      functions: [
        {
          id: "bench-three-steps",
          name: "three-steps",
          triggers: [{ event: "bench/run" }],
          idempotency: "event.data.n",
          steps: { step },
        },
      ],
    }),
  );
  process.send!({ registered: true });
});
