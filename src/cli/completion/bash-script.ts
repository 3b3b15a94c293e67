import type { CompletionRules } from "./completion-rules.ts";

/** For bash 3.2 or later, which every macOS has too. */
export function bashScript(program: string, rules: readonly CompletionRules[]): string {
  const name = `_${program}`;
  return `# bash completion of ${program}
${name}() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD-1]}" path="" words="" flags="" files="" i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$path \${COMP_WORDS[i]}" in
      ${rules
        .filter(({ path }) => path !== "")
        .map(({ path }) => quoted(pathPattern(path)))
        .join(" | ")})
        path="\${path:+$path }\${COMP_WORDS[i]}" ;;
    esac
  done
  COMPREPLY=()
  case "$path:$prev" in
${rules.flatMap(({ path, flags }) => flags.filter(({ takesValue }) => takesValue).map((flag) => `    ${quoted(`${path}:${flag.name}`)}) ${values(flag)}; ${name}_reply; return ;;`)).join("\n")}
  esac
  case "$path" in
${rules
  .map(({ path, flags, subcommands, argument }) => {
    const words = [...subcommands.map((sub) => sub.name), ...argument.choices];
    return `    ${quoted(path)}) flags=${quoted(flags.map((flag) => flag.name).join(" "))}; ${values({ choices: words, file: argument.file })} ;;`;
  })
  .join("\n")}
  esac
  case "$cur" in -*) words="$flags"; files="" ;; esac
  ${name}_reply
}
${name}_reply() {
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
  if [ -n "$files" ]; then
    local IFS=$'\\n'
    COMPREPLY+=($(compgen -f -- "$cur"))
    compopt -o filenames 2>/dev/null
  fi
}
complete -F ${name} ${program}
`;
}

/** As the loop sees it: the path so far, a blank, and the next word. */
function pathPattern(path: string): string {
  return path.includes(" ") ? path : ` ${path}`;
}

function values({ choices, file }: { choices: readonly string[]; file: boolean }): string {
  return `words=${quoted(choices.join(" "))}; files=${file ? "yes" : '""'}`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
