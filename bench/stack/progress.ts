const startedMs = performance.now();

/** What goes on, for people to read: stdout is for the tables. */
export function say(line: string): void {
  const seconds = ((performance.now() - startedMs) / 1_000).toFixed(0).padStart(4);
  process.stderr.write(`${seconds} s  ${line}\n`);
}

export function secondsSinceStart(): number {
  return (performance.now() - startedMs) / 1_000;
}
