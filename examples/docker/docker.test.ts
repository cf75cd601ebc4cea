// The image and its composition name what there is: files, commands, options, routes, variables. Whether Docker builds them is not asked here; what they run is run by rehearse.mjs.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { start } from "../../packages/idem/src/cli/commands/start.ts";
import { checkHealth } from "../../packages/idem/src/server/routes/api/check-health.ts";
import { execForm, lastOf, readDockerfile } from "./read-dockerfile.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, "..", "..");
const read = (path: string) => readFileSync(join(root, path), "utf8");
const port = Number(start.options.port!.value);
const dockerfile = readDockerfile(read("examples/docker/Dockerfile"));
const compose = parse(read("examples/docker/compose.yaml"));
const { server, postgres } = compose.services;
const sources = readdirSync(join(root, "packages/idem/src"), { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"))
  .map((name) => read(`packages/idem/src/${name}`))
  .join("\n");

test("images are pinned to a version, and are one for both stages", () => {
  const bases = dockerfile.filter(({ name }) => name === "FROM").map(({ rest }) => rest.split(" ")[0]);
  expect(bases.length).toBe(2);
  expect(new Set(bases).size).toBe(1);
  expect(bases[0]).toMatch(/^node:\d+\.\d+\.\d+-\w+-slim$/);
  expect(postgres.image).toMatch(/^postgres:\d+\.\d+-\w+$/);
  expect(Number(/:(\d+)\.(\d+)/.exec(bases[0]!)![1])).toBeGreaterThanOrEqual(24);
});

test("what is installed is this version of the package, with the driver that the server needs for PostgreSQL", () => {
  const { version, peerDependencies } = JSON.parse(read("packages/idem/package.json"));
  const install = dockerfile.find(({ name, rest }) => name === "RUN" && rest.includes("npm install"))!.rest;
  expect(dockerfile.find(({ name }) => name === "ARG")!.rest).toBe(`IDEM=idem@${version}`);
  expect(install).toContain("--ignore-scripts");
  const [, major] = /\bpg@(\d+)\./.exec(install)!;
  expect(peerDependencies.pg).toMatch(new RegExp(`^\\^${major}\\.`));
});

test.each([
  ["the image", () => execForm(lastOf(dockerfile, "CMD")!)],
  ["the composition", () => server.command],
])("the command of %s is one of the server's, with options it has", (_name, commandOf) => {
  const entry = execForm(lastOf(dockerfile, "ENTRYPOINT")!) as string[];
  expect(entry[0]).toBe("node");
  const file = entry[1]!.replace(/^node_modules\/idem\//, "packages/idem/");
  expect([entry[1], existsSync(join(root, file))]).toEqual(["node_modules/idem/bin/idem.mjs", true]);
  const [command, ...args] = commandOf() as string[];
  expect(command).toBe(start.name);
  const flags = args.filter((arg) => arg.startsWith("--")).map((arg) => arg.slice(2));
  expect(flags).toContain("host");
  expect(flags.filter((flag) => !(flag in start.options))).toEqual([]);
});

test("the health check asks a route of the server's, on the port it listens on, in a program that runs", () => {
  const check = lastOf(dockerfile, "HEALTHCHECK")!;
  const [node, flag, program] = execForm(check) as string[];
  expect([node, flag]).toEqual(["node", "-e"]);
  const asked = new URL(/fetch\('([^']+)'\)/.exec(program!)![1]!);
  expect([asked.pathname, Number(asked.port)]).toEqual([checkHealth.path, port]);
  expect(() => new Function(program!)).not.toThrow();
  expect(lastOf(dockerfile, "EXPOSE")).toBe(String(port));
  expect(server.ports).toEqual([`127.0.0.1:${port}:${port}`]);
});

test("it does not run as root, is told of its end, and has longer for it than the server takes", () => {
  expect(lastOf(dockerfile, "USER")).toBe("node");
  expect(lastOf(dockerfile, "STOPSIGNAL")).toBe("SIGTERM");
  const users = dockerfile.findIndex(({ name }) => name === "USER");
  const owned = dockerfile.findIndex(({ rest }) => rest.includes("chown node:node /data"));
  expect(owned).toBeGreaterThan(0);
  expect(owned).toBeLessThan(users);
  expect(Number.parseInt(server.stop_grace_period, 10)).toBeGreaterThan(15);
  expect([server.read_only, server.cap_drop]).toEqual([true, ["ALL"]]);
});

test("the file of SQLite is in the volume, and that of PostgreSQL where its image keeps it", () => {
  const environment = dockerfile.filter(({ name }) => name === "ENV").map(({ rest }) => rest);
  expect(environment).toContain(`IDEM_STORE=sqlite:${lastOf(dockerfile, "VOLUME")}/server.db`);
  // From 18 on the image keeps its data one folder up, by version.
  expect(postgres.volumes).toEqual(["postgres:/var/lib/postgresql"]);
  expect(Object.keys(compose.volumes)).toEqual(["postgres"]);
});

test("every variable is one that the server reads, every secret has to be given, and the example names them all", () => {
  const named = Object.keys(server.environment);
  expect(named.filter((name) => !sources.includes(name))).toEqual([]);
  expect(named).toEqual(
    expect.arrayContaining(["IDEM_STORE", "IDEM_EVENT_KEY", "IDEM_SIGNING_KEY", "IDEM_PASSWORD", "IDEM_SECRET_KEY"]),
  );
  const asked = [...read("examples/docker/compose.yaml").matchAll(/\$\{(\w+)(:\?)?/g)];
  expect(asked.filter(([, , isRequired]) => isRequired === undefined)).toEqual([]);
  const example = [...read("examples/docker/.env.example").matchAll(/^(\w+)=(.*)$/gm)];
  expect(new Set(example.map(([, name]) => name))).toEqual(new Set(asked.map(([, name]) => name)));
  expect(example.filter(([, , value]) => value !== "")).toEqual([]);
});

test("nothing but what is copied reaches the builder: no .env, no store", () => {
  const rules = read("examples/docker/.dockerignore").trim().split("\n");
  expect(rules[0]).toBe("*");
  const copied = dockerfile
    .find(({ name, stage }) => name === "COPY" && stage === 0)!
    .rest.split(" ")
    .slice(0, -1);
  expect(rules.slice(1)).toEqual(copied.map((name) => `!${name}`));
});

test("the server waits for its database, and both come back after a restart of the machine", () => {
  expect(server.depends_on.postgres.condition).toBe("service_healthy");
  expect(postgres.healthcheck.test[1]).toContain(`--username ${postgres.environment.POSTGRES_USER}`);
  expect([server.restart, postgres.restart]).toEqual(["unless-stopped", "unless-stopped"]);
  expect(server.environment.IDEM_STORE).toMatch(
    new RegExp(
      `^postgres://${postgres.environment.POSTGRES_USER}:.*@postgres:5432/${postgres.environment.POSTGRES_DB}$`,
    ),
  );
});
