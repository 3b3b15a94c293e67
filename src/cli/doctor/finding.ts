/** `fault`: it does not work. `warning`: it works, but not as it should, or it cannot be told. */
type Level = "ok" | "warning" | "fault";

export interface Finding {
  /** What was looked at. */
  check: string;
  level: Level;
  /** What is true. */
  message: string;
  /** What to do about it. */
  todo?: string;
}

export function ok(check: string, message: string): Finding {
  return { check, level: "ok", message };
}

export function warning(check: string, message: string, todo?: string): Finding {
  return { check, level: "warning", message, ...(todo !== undefined && { todo }) };
}

export function fault(check: string, message: string, todo?: string): Finding {
  return { check, level: "fault", message, ...(todo !== undefined && { todo }) };
}

const MARKS: Readonly<Record<Level, string>> = { ok: "✓", warning: "!", fault: "✗" };

export function findingLines({ check, level, message, todo }: Finding): string {
  const lines = [`${MARKS[level]} ${check}: ${message}`, ...(todo === undefined ? [] : [`  → ${todo}`])];
  return lines.join("\n");
}
