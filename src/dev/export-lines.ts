type Variables = Readonly<Record<string, string | undefined>>;

/** The commands that set these variables in a POSIX shell. */
export function exportLines(variables: Variables): string[] {
  return Object.entries(variables).flatMap(([name, value]) => (value ? [`export ${name}=${shellWord(value)}`] : []));
}

/** A word of a POSIX shell. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
