import { shellWord } from "./output.ts";

/**
 * The commands that set variables in the shell of this platform: a POSIX shell, or PowerShell on Windows, with a
 * comment that says how its Command Prompt does it. Which of the two somebody has open cannot be told: npm is run in
 * between.
 */
export function environmentLines(
  environment: Readonly<Record<string, string | undefined>>,
  platform: NodeJS.Platform = process.platform,
): string[] {
  const known = Object.entries(environment).filter((pair): pair is [string, string] => pair[1] !== undefined);
  if (platform !== "win32") return known.map(([name, value]) => `export ${name}=${shellWord(value, platform)}`);
  const lines = known.map(([name, value]) => `$env:${name} = '${value.replaceAll("'", "''")}'`);
  const [first] = known;
  return first ? [...lines, `# PowerShell. In the Command Prompt: set ${first[0]}=${first[1]}, and so on`] : [];
}
