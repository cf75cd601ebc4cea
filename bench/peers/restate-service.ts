// The service that restate-server calls: a process of its own that serves HTTP/2, as Restate's quickstart has it. `serve` listens
// on every address; the handler it is made of is put behind a server that listens on the loopback only.
import { createServer } from "node:http2";
import { type Context, createEndpointHandler, service } from "@restatedev/restate-sdk";

const threeSteps = service({
  name: "threeSteps",
  handlers: {
    run: async (ctx: Context, { n }: { n: number }) => {
      const a = await ctx.run("a", () => 1);
      const b = await ctx.run("b", () => a + 1);
      const c = await ctx.run("c", () => b + 1);
      return { n, c };
    },
  },
});

export type ThreeSteps = typeof threeSteps;

// A log line per invocation would be measured too.
const server = createServer(createEndpointHandler({ services: [threeSteps], logger: () => undefined }));
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  if (typeof address === "object") process.send?.({ port: address?.port });
});
process.once("disconnect", () => process.exit(0));
