import { shellWord } from "../contract/plain-text.ts";

type Variables = Readonly<Record<string, string | undefined>>;

/** The commands that set these variables in a POSIX shell. */
export function exportLines(variables: Variables): string[] {
  return Object.entries(variables).flatMap(([name, value]) =>
    value ? [`export ${name}=${shellWord(value, "linux")}`] : [],
  );
}
