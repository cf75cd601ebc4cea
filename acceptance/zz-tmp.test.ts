import { test, expect } from "vitest";
import { World } from "/work/main/acceptance/world.ts";
import { readFileSync } from "node:fs";
const cpu = (pid:number)=>{const f=readFileSync(`/proc/${pid}/stat`,"utf8").split(") ")[1]!.split(" ");return (Number(f[11])+Number(f[12]))*10};
test.each([1000])("t %s", async (count) => {
  const app = { id: "shop", adapter: "node" as const, functions: ["tools" as const] };
  const world = await World.open({ mode: "dev", apps: [app] });
  const pid=(world as any).server.child.pid;
  const [a,b]=[cpu(pid),cpu(world.host.pid)];
  const t=Date.now();
  const runId = await world.rest.start("shop/thousand", { count });
  const r = await world.rest.end(runId);
  console.log(count, r.status, "wall", Date.now()-t, "server cpu", cpu(pid)-a, "app cpu", cpu(world.host.pid)-b, world.traces.of(runId).length);
  await world.close();
}, 110000);
