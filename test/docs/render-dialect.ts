import type { DialectSetting } from "../../src/http/dialect-settings.ts";

/** The entries of one service in docs/dialect.md: what the schema says of each setting. */
export function renderDialectEntries(settings: readonly DialectSetting[]): string {
  const groups = [...new Set(settings.map(groupOf))];
  return groups
    .map((group) =>
      [`### \`${group}\`\n`, ...settings.filter((one) => groupOf(one) === group).map(entry), ""].join("\n"),
    )
    .join("\n");
}

function groupOf({ path }: DialectSetting): string {
  return path.split(".")[0] ?? "";
}

function entry(setting: DialectSetting): string {
  const { path, meaning, values, section, ifWrong } = setting;
  return `- **\`${path}\`**: ${meaning}. Values: ${values}; default: ${defaultOf(setting)}; left open in: ${section}.
  If it is wrong: ${ifWrong}.`;
}

function defaultOf({ fallback, value }: DialectSetting): string {
  return fallback ?? `\`${typeof value === "string" && value !== "" ? value : JSON.stringify(value)}\``;
}

/** The members of a dialect with every setting at its default, commented (JSONC), without the braces around them. */
export function renderDialectExample(settings: readonly DialectSetting[]): string[] {
  const lines: string[] = [];
  let open: string[] = [];
  const indent = (): string => "  ".repeat(open.length + 1);
  const close = (depth: number): void => {
    while (open.length > depth) {
      open = open.slice(0, -1);
      lines.push(`${indent()}},`);
    }
  };
  for (const setting of settings) {
    const { path, meaning, values, fallback, value } = setting;
    const groups = path.split(".").slice(0, -1);
    const shared = groups.findIndex((group, depth) => open[depth] !== group);
    close(shared === -1 ? groups.length : shared);
    for (const group of groups.slice(open.length)) {
      lines.push(`${indent()}${JSON.stringify(group)}: {`);
      open = [...open, group];
    }
    lines.push(`${indent()}// ${`${meaning}. Values: ${values}.`.replaceAll("`", "")}`);
    if (fallback !== undefined) lines.push(`${indent()}// Default: ${fallback.replaceAll("`", "")}.`);
    const member = `${JSON.stringify(path.split(".").at(-1))}: ${JSON.stringify(value)},`;
    // Copied, it would be a statement that the default is not.
    lines.push(`${indent()}${fallback === undefined ? "" : "// "}${member}`);
  }
  close(0);
  return lines;
}
