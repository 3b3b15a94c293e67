import { shellWord } from "./output.ts";

/** The commands that set variables in the shell of this platform: a POSIX shell, or PowerShell on Windows. */
export function environmentLines(
  environment: Readonly<Record<string, string | undefined>>,
  platform: NodeJS.Platform = process.platform,
): string[] {
  const known = Object.entries(environment).filter((pair): pair is [string, string] => pair[1] !== undefined);
  if (platform !== "win32") return known.map(([name, value]) => `export ${name}=${shellWord(value)}`);
  // In the older command prompt, `set NAME=value` does the same.
  return known.map(([name, value]) => `$env:${name} = '${value.replaceAll("'", "''")}'`);
}
