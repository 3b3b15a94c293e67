/**
 * `fault`: it does not work, so that sales are not issued or recorded, or a service cannot be used. `warning`: it
 * works, but not as it should, or it cannot be checked.
 */
export type Level = "ok" | "warning" | "fault";

export interface Finding {
  /** What was looked at. */
  check: string;
  level: Level;
  /** What is true. */
  message: string;
  /** What to do about it. */
  todo?: string;
}

const finding =
  (level: Level) =>
  (check: string, message: string, todo?: string): Finding =>
    todo === undefined ? { check, level, message } : { check, level, message, todo };

export const ok = finding("ok");
export const warning = finding("warning");
export const fault = finding("fault");
