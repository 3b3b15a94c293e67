import type { CompletionRules, Value } from "./completion-rules.ts";

export function fishScript(program: string, rules: readonly CompletionRules[]): string {
  const at = `__${program}_at`;
  const paths = rules.filter(({ path }) => path !== "").map(({ path }) => quoted(path));
  const lines = rules.flatMap(({ path, subcommands, flags, argument }) => {
    const here = `complete -c ${program} -n ${quoted(`${at} ${quoted(path)}`)}`;
    return [
      ...subcommands.map((sub) => `${here} -a ${quoted(sub.name)} -d ${quoted(sub.description)}`),
      ...offers(here, argument),
      ...flags.map((flag) => {
        const value = flag.takesValue ? ` -r${flag.file ? " -F" : ""}${words(flag.choices)}` : "";
        return `${here} -l ${flag.name.replace(/^--/, "")} -d ${quoted(flag.description)}${value}`;
      }),
    ];
  });
  return `# fish completion of ${program}
function ${at} --argument-names wanted
    set -l path
    for word in (commandline -opc)[2..-1]
        set -l next (string join ' ' $path $word)
        contains -- $next ${paths.join(" ")}; and set path $next
    end
    test "$path" = "$wanted"
end
complete -c ${program} -f
${lines.join("\n")}
`;
}

function offers(here: string, { choices, file }: Value): string[] {
  return [...(choices.length > 0 ? [`${here}${words(choices)}`] : []), ...(file ? [`${here} -F`] : [])];
}

function words(choices: readonly string[]): string {
  return choices.length > 0 ? ` -a ${quoted(choices.join(" "))}` : "";
}

/** fish knows two characters that mean something within single quotes. */
function quoted(text: string): string {
  return `'${text.replaceAll(/[\\']/g, String.raw`\$&`)}'`;
}
