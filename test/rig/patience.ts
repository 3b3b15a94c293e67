import { existsSync } from "node:fs";

/**
 * Suites named on the command line. They have the machine to themselves, and a person who names them wants to see red
 * soon.
 */
export const NAMED_SUITES = process.argv
  .map((argument) => argument.replace(/(\.(slow|night))?(\.test\.ts)?$/, ""))
  .flatMap((suite) => ["", ".slow", ".night"].map((kind) => `${suite}${kind}.test.ts`))
  .filter((file) => file.startsWith("test/") && existsSync(file));
// The processes of the suites inherit it.
process.env["TEST_PATIENCE_MS"] ??= NAMED_SUITES.length > 0 && !process.env["CI"] ? "20000" : "90000";

/**
 * How long a test waits for what will come: until then a slow machine is slow, after it something hangs. Nothing that
 * is measured depends on it.
 */
export const PATIENCE_MS = Number(process.env["TEST_PATIENCE_MS"]);

/** `SCALE_FULL=1`: the sizes for the figures in the docs; each night shows the same with less. */
export const FULL_SIZE = process.env["SCALE_FULL"] === "1";

/** Between two looks at a run's state: a test that looks without a pause waits for itself. */
export const LOOK_PAUSE_MS = 150;

/**
 * Of a Temporal server: a drain waits until the server ends the poll of an idle queue, which takes a minute otherwise.
 * The server ends each a second before this time: with one second all that poll, its own workers too, do so without a
 * pause.
 */
export const PROMPT_DRAINS = { "matching.longPollExpirationInterval": "1500ms" };
