/**
 * How long a test waits for what will come: until then a slow machine is slow, after it something hangs. Nothing that
 * is measured depends on it.
 */
export const PATIENCE_MS = 90_000;

/** Between two looks at a run's state: a test that looks without a pause waits for itself. */
export const LOOK_PAUSE_MS = 150;
