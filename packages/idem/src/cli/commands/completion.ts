// idem completion: scripts with which shells complete commands and options.
import type { Command } from "../command.ts";
import { completionFor, type Shell, shells } from "../completion.ts";
import { usage } from "../exit.ts";

export const completion = (commandsOf: () => Promise<readonly Command[]>): Command => ({
  name: "completion",
  summary: "print a completion script for a shell",
  whyNoServer: "it prints a script for your shell and asks no store.",
  usage: shells.join(" | "),
  words: { min: 1, max: 1 },
  options: {},
  examples: [
    'eval "$(idem completion bash)"',
    "idem completion zsh > ~/.zfunc/_idem",
    "idem completion fish > ~/.config/fish/completions/idem.fish",
  ],
  async run(context) {
    const shell = context.words[0] as Shell;
    if (!shells.includes(shell)) throw usage(`"${shell}" is none of ${shells.join(", ")}.`);
    context.io.out.write(completionFor(shell, await commandsOf()));
    return 0;
  },
});
