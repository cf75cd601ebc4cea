// idem nodes: the processes that share the store, as their workers say: one worker for each environment a node works in.
import { type Command, serverOptions } from "../command.ts";
import { printable } from "../printable.ts";
import { table } from "../table.ts";
import { iso, relative } from "../times.ts";

export const nodes: Command = {
  name: "nodes",
  summary: "list the workers of all nodes, with role, version, heartbeat and leases",
  usage: "",
  words: { min: 0, max: 0 },
  options: serverOptions,
  details: [
    "A node has a worker for each environment. One that is gone, by itself or declared lost, is listed for about an hour more.",
    "LEASES counts what it holds right now; a node with the role api never holds any.",
  ],
  examples: ["idem nodes", "idem nodes --json"],
  async run(context) {
    return context.read(async ({ reads }) => {
      const list = await reads.workers();
      if (context.isJson) {
        context.json(list);
        return 0;
      }
      if (list.length === 0) {
        context.remark("No node has worked on this store yet.");
        return 0;
      }
      const { io, paint } = context;
      const now = context.now();
      io.out.write(
        table(
          [
            { title: "NODE", shrinks: true },
            { title: "ROLE" },
            { title: "VERSION" },
            { title: "HEARTBEAT", align: "right" },
            { title: "LEASES", align: "right" },
            { title: "", paint: (cell) => (cell === "gone" ? paint.dim(cell) : paint.red(cell)) },
            { title: "SINCE", drops: true },
            { title: "WORKER", drops: true },
          ],
          list.map(({ id, node, role, version, beatAt, leased, isDead, until, startedAt }) => [
            printable(node ?? "–"),
            role ?? "–",
            printable(version ?? "–"),
            beatAt === null ? "–" : relative(beatAt, now),
            String(leased),
            // The next sweep declares it lost.
            isDead ? "gone" : until < now ? "silent" : "",
            iso(startedAt),
            id,
          ]),
          { columns: io.out.columns, bold: paint.bold },
        ),
      );
      return 0;
    });
  },
};
