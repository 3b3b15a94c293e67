import type { GuidedSetting } from "./guide.ts";

/** The members of a dialect with every setting at its default, commented (JSONC), without the braces around them. */
export function renderDialectExample(settings: readonly GuidedSetting[]): string[] {
  const lines: string[] = [];
  let open: string[] = [];
  const indent = (): string => "  ".repeat(open.length + 1);
  const close = (depth: number): void => {
    while (open.length > depth) {
      open = open.slice(0, -1);
      lines.push(`${indent()}},`);
    }
  };
  for (const { path, meaning, fallback, values } of settings) {
    const groups = path.split(".").slice(0, -1);
    const shared = groups.findIndex((group, depth) => open[depth] !== group);
    close(shared === -1 ? groups.length : shared);
    for (const group of groups.slice(open.length)) {
      lines.push(`${indent()}${JSON.stringify(group)}: {`);
      open = [...open, group];
    }
    lines.push(`${indent()}// ${meaning.replaceAll("`", "")} Values: ${values.replaceAll("`", "")}.`);
    const member = `${JSON.stringify(path.split(".").at(-1))}: `;
    // What the schema leaves open is commented out: a value would be a statement.
    if (fallback === undefined)
      lines.push(`${indent()}// ${member}${JSON.stringify(/`([^`]+)`/.exec(values)?.[1] ?? "")},`);
    else lines.push(`${indent()}${member}${JSON.stringify(fallback)},`);
  }
  close(0);
  return lines;
}
