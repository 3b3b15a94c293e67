import type { GuidedSetting, NeutralWord } from "./guide.ts";

/** What the page says of one service. */
export interface DocumentedDialect {
  /** The heading. */
  title: string;
  /** The variable that carries it. */
  variable: string;
  settings: readonly GuidedSetting[];
  neutralWords: readonly NeutralWord[];
}

const FOUND_BY = {
  read: "`fiscalflow dialect`",
  write: "`fiscalflow dialect --write`",
  ask: "asking the provider",
} as const;

/** The part of `docs/dialect.md` that is made from the schema and the guide of one service. */
export function renderDialect({ title, variable, settings, neutralWords }: DocumentedDialect): string {
  const sections = [...groupsOf(settings)].map(
    ([group, members]) => `### \`${group}\`\n\n${members.map(settingText).join("\n")}`,
  );
  return `## ${title} (\`${variable}\`)

${sections.join("\n\n")}

### Left open by the documentation, and not in the dialect

| section | what is open | whether fiscalflow depends on it |
| --- | --- | --- |
${neutralWords.map(({ section, word, dependence }) => `| ${section} | ${word} | ${dependence} |`).join("\n")}
`;
}

function groupsOf(settings: readonly GuidedSetting[]): Map<string, GuidedSetting[]> {
  const groups = new Map<string, GuidedSetting[]>();
  for (const setting of settings) {
    const group = setting.path.split(".")[0] ?? "";
    groups.set(group, [...(groups.get(group) ?? []), setting]);
  }
  return groups;
}

function settingText(setting: GuidedSetting): string {
  const { path, meaning, values, fallbackText, section, whileWrong, shows, foundBy } = setting;
  return `- **\`${path}\`**: ${meaning}
  - values: ${values}; default: ${fallbackText}; left open in: ${section}
  - if it is wrong: ${whileWrong}${shows === undefined ? "" : `. How to notice: ${shows}`}
  - found by: ${FOUND_BY[foundBy]}`;
}
