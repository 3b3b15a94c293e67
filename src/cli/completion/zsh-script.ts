import type { CompletionRules } from "./completion-rules.ts";

/** To be sourced, or kept as a file of `fpath`. */
export function zshScript(program: string, rules: readonly CompletionRules[]): string {
  const name = `_${program}`;
  return `#compdef ${program}
${name}() {
  local at="" i
  local -a flags subcommands
  # Not \`path\`: that is where zsh finds its commands.
  for ((i = 2; i < CURRENT; i++)); do
    case "$at \${words[i]}" in
      ${rules
        .filter(({ path }) => path !== "")
        .map(({ path }) => quoted(path.includes(" ") ? path : ` ${path}`))
        .join(" | ")})
        at="\${at:+$at }\${words[i]}" ;;
    esac
  done
  case "$at:\${words[CURRENT-1]}" in
${rules
  .flatMap(({ path, flags }) =>
    flags
      .filter(({ takesValue }) => takesValue)
      .map((flag) => `    ${quoted(`${path}:${flag.name}`)}) ${offers(flag)}; return ;;`),
  )
  .join("\n")}
  esac
  case "$at" in
${rules
  .map(
    ({ path, flags, subcommands, argument }) => `    ${quoted(path)})
      flags=(${flags.map(described).join(" ")})
      subcommands=(${subcommands.map(described).join(" ")})
      if [[ "\${words[CURRENT]}" != -* ]]; then ${offers(argument)}; fi ;;`,
  )
  .join("\n")}
  esac
  if [[ "\${words[CURRENT]}" == -* ]]; then _describe -o option flags; else _describe command subcommands; fi
}
if [[ "\${funcstack[1]}" == ${name} ]]; then ${name} "$@"; else compdef ${name} ${program}; fi
`;
}

function offers({ choices, file }: { choices: readonly string[]; file: boolean }): string {
  const parts = [
    ...(choices.length > 0 ? [`compadd -- ${choices.map(quoted).join(" ")}`] : []),
    ...(file ? ["_files"] : []),
  ];
  return parts.length > 0 ? parts.join("; ") : ":";
}

/** A colon separates the word from its description. */
function described({ name, description }: { name: string; description: string }): string {
  return quoted(`${name}:${description.replaceAll(":", "\\:")}`);
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
