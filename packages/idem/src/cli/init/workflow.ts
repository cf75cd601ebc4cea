// The GitHub workflow that lints and verifies, and gives what was found to the code host. Pure.

export type PackageManager = "npm" | "pnpm" | "yarn" | "bun";

/** By the file each leaves beside package.json, or further up. */
export const lockfiles: readonly (readonly [file: string, manager: PackageManager])[] = [
  ["pnpm-lock.yaml", "pnpm"],
  ["yarn.lock", "yarn"],
  ["bun.lock", "bun"],
  ["bun.lockb", "bun"],
  ["package-lock.json", "npm"],
  ["npm-shrinkwrap.json", "npm"],
];

interface Managed {
  readonly install: string;
  readonly ci: string;
  readonly run: (script: string, args: string) => string;
  readonly exec: (command: string) => string;
}

export const managed: Readonly<Record<PackageManager, Managed>> = {
  npm: {
    install: "npm install",
    ci: "npm ci",
    run: (script, args) => `npm run ${script}${args === "" ? "" : ` -- ${args}`}`,
    exec: (command) => `npx ${command}`,
  },
  pnpm: {
    install: "pnpm install",
    ci: "pnpm install --frozen-lockfile",
    run: (script, args) => `pnpm run ${script} ${args}`.trimEnd(),
    exec: (command) => `pnpm exec ${command}`,
  },
  yarn: {
    install: "yarn install",
    ci: "yarn install --frozen-lockfile",
    run: (script, args) => `yarn run ${script} ${args}`.trimEnd(),
    exec: (command) => `yarn ${command}`,
  },
  bun: {
    install: "bun install",
    ci: "bun install --frozen-lockfile",
    run: (script, args) => `bun run ${script} ${args}`.trimEnd(),
    exec: (command) => `bunx ${command}`,
  },
};

export interface WorkflowOptions {
  readonly manager: PackageManager;
  /** The project's folder from the repository's root; "" where it is that. */
  readonly folder: string;
  /** Where the lockfile lies, from the root. */
  readonly lockFolder: string;
  readonly lint: string;
  readonly verify: string;
}

const inFolder = (folder: string): string =>
  folder === "" ? "" : `\n        working-directory: ${JSON.stringify(folder)}`;

const setUp: Readonly<Record<PackageManager, string>> = {
  npm: "",
  pnpm: "\n      - run: corepack enable",
  yarn: "\n      - run: corepack enable",
  bun: "\n      - uses: oven-sh/setup-bun@v2",
};

export function workflowOf({ manager, folder, lockFolder, lint, verify }: WorkflowOptions): string {
  const report = folder === "" ? "idem.sarif" : `${folder}/idem.sarif`;
  const at = inFolder(folder);
  return `# Made by idem init, and yours: it is not written over.
name: idem
on:
  push:
    branches: [main, master]
  pull_request:
permissions:
  contents: read
  security-events: write # for what is shown beside the lines
jobs:
  verify:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
        with:
          fetch-depth: 0 # for idem verify --changed
      - uses: actions/setup-node@v4
        with:
          node-version: 22${setUp[manager]}
      - run: ${managed[manager].ci}${inFolder(lockFolder)}
      - name: Lint
        run: ${lint}${at}
      - name: Verify
        if: \${{ !cancelled() }}
        run: ${verify}${at}
      - name: Show beside the lines
        if: \${{ !cancelled() && hashFiles('${report.replaceAll("'", "''")}') != '' }}
        continue-on-error: true # where code scanning is switched off, the log has it all
        uses: github/codeql-action/upload-sarif@v3
        with:
          sarif_file: ${JSON.stringify(report)}
          category: idem-verify
`;
}
