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
  for (const { path, meaning, fallback, values, fallbackText, isStated } of settings) {
    const groups = path.split(".").slice(0, -1);
    const shared = groups.findIndex((group, depth) => open[depth] !== group);
    close(shared === -1 ? groups.length : shared);
    for (const group of groups.slice(open.length)) {
      lines.push(`${indent()}${JSON.stringify(group)}: {`);
      open = [...open, group];
    }
    lines.push(`${indent()}// ${meaning.replaceAll("`", "")} Values: ${values.replaceAll("`", "")}.`);
    if (isStated) lines.push(`${indent()}// Default: ${fallbackText.replaceAll("`", "")}.`);
    const member = `${JSON.stringify(path.split(".").at(-1))}: `;
    // Copied, it would be a statement that the default is not.
    lines.push(`${indent()}${isStated ? "// " : ""}${member}${JSON.stringify(fallback)},`);
  }
  close(0);
  return lines;
}
