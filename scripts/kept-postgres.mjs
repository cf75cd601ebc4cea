// A server that lives as long as the process that started this one, however that process ends: it writes its address, and goes when its
// input does. For tests whose files share a process and so a server.
import { startLocalPostgres } from "./local-postgres.mjs";

const server = await startLocalPostgres();
process.stdin.on("end", async () => {
  // What is deleted anyway need not be written down first.
  await server.crash();
  await server.remove();
  process.exit(0);
});
process.stdin.resume();
process.stdout.write(`${server.url}\n`);
