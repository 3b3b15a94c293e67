/**
 * How much the fault suite does. Read from the environment and printed with the results:
 *
 * - `FAULTS_SEED`: what the plan is drawn from; default: a random one. Only the plan is repeatable, not the order in
 *   which processes act.
 * - `FAULTS_FULL=1`: the run for the figures: 1,000 sales, 200 kills of workers, 500 buttons, 40 freezes, 50 SIGTERMs.
 * - `FAULTS_BUTTONS`, `FAULTS_FREEZES`: how often an operator presses a button, and a worker stands still.
 * - `FAULTS_OUTAGES`: how often the database stands still for 20 seconds; default: never.
 * - `FAULTS_PGBOUNCER=1`: the database is behind Debian's `pgbouncer`, in transaction mode.
 * - `FAULTS_ENCRYPTED=1`: all payloads are encrypted, by one of two keys for each start of a process.
 * - `FAULTS_SALES`, `FAULTS_KILLS`, `FAULTS_SIGTERMS`: other sizes. Sales go on being started until the last kill has
 *   struck.
 * - `FAULTS_KEEP=1`: the folder with the logs of all processes and Temporal's database is kept, and its path is
 *   printed.
 */
export interface FaultOptions {
  readonly seed: number;
  readonly full: boolean;
  readonly sales: number;
  /** Of worker processes; those of the receiver and of the Temporal server come on top. */
  readonly kills: number;
  /** Pressed in Temporal's UI and command line. */
  readonly buttons: number;
  /** Workers that stand still for longer than an attempt may take. */
  readonly freezes: number;
  /** Of the database. */
  readonly outages: number;
  /** Before the database. */
  readonly pgbouncer: boolean;
  readonly encrypted: boolean;
  readonly sigterms: number;
  readonly keep: boolean;
}

export function faultOptions(env: NodeJS.ProcessEnv): FaultOptions {
  const full = env["FAULTS_FULL"] === "1";
  return {
    seed: wholeNumber(env, "FAULTS_SEED") ?? Math.floor(Math.random() * 1_000_000),
    full,
    sales: wholeNumber(env, "FAULTS_SALES") ?? (full ? 1_000 : 110),
    kills: wholeNumber(env, "FAULTS_KILLS") ?? (full ? 200 : 26),
    buttons: wholeNumber(env, "FAULTS_BUTTONS") ?? (full ? 500 : 15),
    freezes: wholeNumber(env, "FAULTS_FREEZES") ?? (full ? 40 : 2),
    outages: wholeNumber(env, "FAULTS_OUTAGES") ?? 0,
    pgbouncer: env["FAULTS_PGBOUNCER"] === "1",
    encrypted: env["FAULTS_ENCRYPTED"] === "1",
    sigterms: wholeNumber(env, "FAULTS_SIGTERMS") ?? (full ? 50 : 5),
    keep: env["FAULTS_KEEP"] === "1",
  };
}

function wholeNumber(env: NodeJS.ProcessEnv, name: string): number | undefined {
  const text = env[name];
  if (text === undefined || text === "") return undefined;
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0) throw new Error(`${name}: expected a whole number, found "${text}"`);
  return value;
}
