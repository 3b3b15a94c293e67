import { Argument, type Command } from "commander";

import type { CliContext } from "../context.ts";
import { bashScript } from "./bash-script.ts";
import { completionRules } from "./completion-rules.ts";
import { fishScript } from "./fish-script.ts";
import { zshScript } from "./zsh-script.ts";

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript } as const;

export function registerCompletion(program: Command, context: CliContext): void {
  program
    .command("completion")
    .description("Print the script that completes this command in a shell.")
    .addArgument(new Argument("<shell>", "the shell").choices(Object.keys(SCRIPTS)))
    .addHelpText(
      "after",
      `
The command must be found as \`fiscalflow\` (npm link in a checkout). Print the script again after an upgrade.

Examples: for this shell; add the line to ~/.bashrc or ~/.zshrc to keep it
  source <(fiscalflow completion bash)
  source <(fiscalflow completion zsh)
  fiscalflow completion fish > ~/.config/fish/completions/fiscalflow.fish`,
    )
    .action((shell: keyof typeof SCRIPTS) => {
      context.stdout.write(SCRIPTS[shell](program.name(), completionRules(program)));
    });
}
