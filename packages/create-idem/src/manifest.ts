// The files around the code: package.json, the compiler's settings, what git leaves out, how PostgreSQL is named, the README.
import { type Form, layoutOf } from "./form.ts";

/** Tried by `npm run create`. */
const ranges = {
  "@hono/node-server": "^2.1.6",
  "@types/express": "^5.0.6",
  "@types/node": "^20",
  "@types/react": "^19",
  "better-sqlite3": "^12.11.1",
  express: "^5.3.0",
  hono: "^4.13.17",
  next: "^16",
  pg: "^8.23.1",
  react: "^19",
  "react-dom": "^19",
  typescript: "^5.9.0",
  vitest: "^4.1.12",
} as const;

type Known = keyof typeof ranges;

const rangesOf = (names: readonly Known[]): Record<string, string> =>
  Object.fromEntries([...names].sort().map((name) => [name, ranges[name]]));

const runs: Readonly<Record<Form["template"], readonly Known[]>> = {
  plain: [],
  express: ["express"],
  hono: ["hono", "@hono/node-server"],
  next: ["next", "react", "react-dom"],
};
const types: Readonly<Record<Form["template"], readonly Known[]>> = {
  plain: [],
  express: ["@types/express"],
  hono: [],
  next: ["@types/react"],
};

export function manifestOf(form: Form): string {
  const { name, template, store, needsDriver } = form;
  const driver: readonly Known[] = store === "postgres" ? ["pg"] : needsDriver ? ["better-sqlite3"] : [];
  // Next.js reads .env by itself.
  const node = store === "postgres" ? "node --env-file=.env dist/main.js" : "node dist/main.js";
  const scripts =
    template === "next"
      ? { dev: "next dev", build: "next build", start: "next start" }
      : { build: "tsc", start: `tsc && ${node}` };
  const manifest = {
    name,
    version: "0.0.0",
    private: true,
    type: "module",
    scripts: { ...scripts, test: "vitest run" },
    dependencies: rangesOf([...runs[template], ...driver]),
    devDependencies: rangesOf(["@types/node", "typescript", "vitest", ...types[template]]),
  };
  return `${JSON.stringify(manifest, null, 2)}\n`;
}

const nodeOptions = {
  target: "es2022",
  module: "nodenext",
  strict: true,
  skipLibCheck: true,
  types: ["node"],
  rootDir: "src",
  outDir: "dist",
};
const nextOptions = {
  target: "es2022",
  lib: ["dom", "dom.iterable", "es2022"],
  module: "esnext",
  moduleResolution: "bundler",
  jsx: "react-jsx",
  strict: true,
  skipLibCheck: true,
  noEmit: true,
  esModuleInterop: true,
  resolveJsonModule: true,
  isolatedModules: true,
  incremental: true,
  allowJs: true,
  plugins: [{ name: "next" }],
};

const tsconfigOf = ({ template }: Form): string =>
  `${JSON.stringify(
    template === "next"
      ? {
          compilerOptions: nextOptions,
          include: ["next-env.d.ts", "**/*.ts", "**/*.tsx", ".next/types/**/*.ts", ".next/dev/types/**/*.ts"],
          exclude: ["node_modules"],
        }
      : { compilerOptions: nodeOptions, include: ["src"] },
    null,
    2,
  )}\n`;

const ignoredOf = ({ template }: Form): string =>
  ["node_modules", template === "next" ? ".next\nnext-env.d.ts" : "dist", ".env", ".idem", "*.sarif", ""].join("\n");

const environment = `# PostgreSQL, where the facts are. To try it: docker run --rm -p 5432:5432 -e POSTGRES_PASSWORD=postgres postgres:18
DATABASE_URL=postgres://postgres:postgres@127.0.0.1:5432/postgres
`;

function readmeOf(form: Form): string {
  const { name, template, store } = form;
  const { folder } = layoutOf(form);
  const isPlain = template === "plain";
  const started = template === "next" ? "npm run build && npm start" : "npm start";
  const before = store === "postgres" ? "cp .env.example .env   # where PostgreSQL is\n" : "";
  const seen = isPlain
    ? `It sends one event twice: \`started\`, then \`duplicate-event\`, and one line that charges. Start it again and nothing is charged.`
    : `Then place an order twice, and look at <http://localhost:3000/idem>:

\`\`\`sh
curl localhost:3000/orders -H 'content-type: application/json' -d '{"orderId": 1}'   # started
curl localhost:3000/orders -H 'content-type: application/json' -d '{"orderId": 1}'   # duplicate-event, and the same run
\`\`\``;
  return `# ${name}

Durable functions with [Idem](https://www.npmjs.com/package/idem): run it twice, it happens once.

\`\`\`sh
npm install
npm test               # delivers an event twice, and sees it happen once
${before}${started.padEnd(22)} # ${isPlain ? "the same, for real" : "on port 3000"}
\`\`\`

${seen}

| | |
| --- | --- |
| \`${folder}/functions.ts\` | the function: one run per \`orderId\`, its steps recorded |
| \`${folder}/payments.ts\` | what it calls outside, with the step's key |
| \`${folder}/functions.test.ts\` | delivered twice, charged once |
| \`npm run verify\` | runs the functions in many small worlds, delivered twice and killed around every effect, and counts what the outside holds then |
| \`npm run lint\` | finds what is not safe to repeat by reading it |

\`npx idem docs\` prints every page of the documentation, \`npx idem explain <key>\` why something ran or did not.
`;
}

export function aroundOf(form: Form): Readonly<Record<string, string>> {
  return {
    "package.json": manifestOf(form),
    "tsconfig.json": tsconfigOf(form),
    ".gitignore": ignoredOf(form),
    "README.md": readmeOf(form),
    ...(form.store === "postgres" ? { ".env.example": environment } : {}),
  };
}
