import { Argument, type Command } from "commander";

import { nearest } from "../../dev/simulator/nearest.ts";
import { TRIGGERS } from "../../dev/simulator/triggers.ts";
import { wholeNumber } from "../arguments.ts";
import { CommandFailedError, UsageError } from "../cli-error.ts";
import type { CliContext } from "../context.ts";
import { printNote, printResult } from "../output.ts";

const ANSWER_MS = 10_000;
const NAMES = Object.keys(TRIGGERS);
const BY_INVOICE = NAMES.filter((name) => TRIGGERS[name]?.byInvoice === true).join(", ");

interface Where {
  url?: string;
  json?: boolean;
}

interface TriggerFlags extends Where {
  times?: number;
  invoice?: string;
}

interface ActiveFault {
  readonly id: number;
  readonly trigger?: string;
  readonly kind: string;
  readonly struck: number;
}

/** `simulator trigger` and `simulator end`: trouble in a simulator that runs already. */
export function registerSimulatorTriggers(simulator: Command, context: CliContext, defaultUrl: string): void {
  const where = (command: Command): Command =>
    command
      .option("--url <url>", `the simulator's address (default: COMPLIANCE_BASE_URL, else ${defaultUrl})`)
      .option("--json", "print the result as JSON");
  const urlOf = ({ url }: Where): string => url ?? (context.env["COMPLIANCE_BASE_URL"] || defaultUrl);

  where(
    simulator
      .command("trigger")
      .description("Have a running simulator make trouble: a rejection, a lost answer, a refused key.")
      .addArgument(troubleArgument("<trouble>", "what is to happen; see below"))
      .option("--times <number>", "how often it strikes; default: see below", wholeNumber(1, 1_000_000))
      .option("--invoice <number>", `only the document with this number; for ${BY_INVOICE}`),
  )
    .addHelpText(
      "after",
      `
Trouble:
${Object.entries(TRIGGERS)
  .map(([name, { help, times }]) => `  ${name.padEnd(18)}${help} (${howOften(times)})`)
  .join("\n")}

It is added to what is set already. \`fiscalflow simulator end\` ends it, and the simulator's page (its address in a
browser) shows it.

Example: this sale needs an operator, whichever is started first
  fiscalflow simulator trigger rejected --invoice INV-1001`,
    )
    .action(async (name: string, { times, invoice, ...flags }: TriggerFlags) => {
      const asked = { ...(times !== undefined && { times }), ...(invoice !== undefined && { invoice }) };
      const path = `/triggers/${encodeURIComponent(name)}`;
      const { id, done } = await control<{ id: number; done: string }>(urlOf(flags), "POST", path, asked, context);
      printResult(context, flags.json, { id, trigger: name, ...asked }, done);
      printNote(context, `To end it before: fiscalflow simulator end ${name}`);
    });

  where(
    simulator
      .command("end")
      .description("End the trouble that a running simulator makes.")
      .addArgument(troubleArgument("[trouble]", "which; without it, all")),
  )
    .addHelpText("after", "\nExample:\n  fiscalflow simulator end credentials")
    .action(async (name: string | undefined, flags: Where) => {
      const url = urlOf(flags);
      const { faults } = await control<{ faults: ActiveFault[] }>(url, "GET", "/faults", undefined, context);
      const ended = faults.filter(({ trigger }) => name === undefined || trigger === name);
      for (const { id } of ended) await control(url, "DELETE", `/faults/${id}`, undefined, context);
      const lines = ended.map(
        ({ trigger, kind, struck }) => `${trigger ?? kind}: ended; it struck ${struckText(struck)}.`,
      );
      printResult(context, flags.json, { ended }, lines.length > 0 ? lines.join("\n") : "Nothing was set.");
    });
}

/** With choices for the completion of a shell, and its own words for a name that is none of them. */
function troubleArgument(name: string, description: string): Argument {
  return new Argument(name, description).choices(NAMES).argParser((given: string) => {
    if (NAMES.includes(given)) return given;
    const meant = nearest(given, NAMES);
    const question = meant === undefined ? "" : ` Did you mean ${meant}?`;
    throw new UsageError(`There is no trouble "${given}".${question} There are: ${NAMES.join(", ")}.`);
  });
}

function struckText(struck: number): string {
  return struck === 0 ? "nothing" : struck === 1 ? "once" : `${struck} times`;
}

function howOften(times: number | null): string {
  return times === null ? "until it is ended" : times === 1 ? "once" : `${times} times`;
}

/** One call of the simulator's controls. Without a key: what listens there may be the service itself. */
async function control<Answer>(
  url: string,
  method: string,
  path: string,
  body: unknown,
  { signal }: CliContext,
): Promise<Answer> {
  let target: URL;
  try {
    target = new URL(`/_simulator${path}`, url);
  } catch {
    throw new CommandFailedError(
      `"${url}" is no URL. Expected the simulator's address, such as http://127.0.0.1:4010.`,
    );
  }
  const response = await fetch(target, {
    method,
    signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]),
    ...(body !== undefined && { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
  }).catch((cause: unknown) => {
    signal.throwIfAborted();
    throw noSimulator(url, cause);
  });
  const answer: unknown = await response.json().catch(() => undefined);
  if (response.ok && answer !== undefined) return answer as Answer;
  const message = response.status === 400 ? messageIn(answer) : undefined;
  throw message === undefined ? noSimulator(url) : new CommandFailedError(message);
}

function messageIn(answer: unknown): string | undefined {
  const { error } = Object(answer) as { error?: { message?: unknown } };
  return typeof error?.message === "string" ? error.message : undefined;
}

function noSimulator(url: string, cause?: unknown): CommandFailedError {
  return new CommandFailedError(
    `No simulator answers at ${url}. Start one with \`fiscalflow simulator\` or \`fiscalflow demo --keep\`, and name its address with --url.`,
    { cause },
  );
}
