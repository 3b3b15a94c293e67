import type { Command } from "commander";
import { z } from "zod";

import type { SeenHead } from "../../ledger/index.ts";
import { CommandFailedError, UsageError } from "../cli-error.ts";
import type { CliContext } from "../context.ts";
import { counted, printNote, printResult } from "../output.ts";
import { parseJson } from "../parse-json.ts";
import { readText } from "../read-text.ts";
import { type ResultFlags, type Scope, withFilters } from "../sale/scope.ts";
import { chainText, type VerifiedChain, verifiedChains } from "./verified-chains.ts";

export function registerLedger(program: Command, context: CliContext): void {
  const ledger = program
    .command("ledger")
    .description("Check the ledger, which is kept for years.")
    .addHelpText(
      "after",
      `
Example:
  fiscalflow ledger verify`,
    );
  registerVerify(ledger, context);
}

interface VerifyFlags extends Scope, ResultFlags {
  against?: string;
}

export function registerVerify(ledger: Command, context: CliContext): void {
  withFilters(
    ledger
      .command("verify")
      .description("Verify that nothing in the ledger was changed or removed since it was written.")
      .option("--against <file>", "the --json output of an earlier run; detects a chain that was rewritten as a whole"),
  )
    .addHelpText(
      "after",
      `
Reads alone, beside the workers. Ends with 1 where anything is found.

Example: a look that the next one can be held against; keep the file where the database's owner cannot write
  fiscalflow ledger verify --json > seen.json
  fiscalflow ledger verify --against seen.json`,
    )
    .action((flags: VerifyFlags) => runVerify(context, flags));
}

async function runVerify(context: CliContext, flags: VerifyFlags): Promise<void> {
  const { withLedger } = await import("../with-ledger.ts");
  const seen = flags.against === undefined ? [] : await readSeen(context, flags.against);
  const chains = await withLedger(
    context,
    async (ledger) => {
      const verified: VerifiedChain[] = [];
      const { connection, business: businessId } = flags;
      for await (const chain of verifiedChains(ledger, { connection, businessId, seen })) {
        verified.push(chain);
        if (flags.json !== true) printResult(context, false, undefined, chainText(chain));
      }
      return verified;
    },
    { forMachines: flags.json === true, mayBeEmpty: seen.length > 0 },
  );
  const found = chains.reduce((sum, chain) => sum + chain.findings.length + chain.moreFindings, 0);
  const against = flags.against === undefined ? undefined : comparison(chains, seen);
  if (flags.json === true) printResult(context, true, { ok: found === 0, chains, ...(against && { against }) }, "");
  if (flags.against !== undefined && against) {
    printNote(context, `Compared with ${flags.against}: ${counted(against.compared, "chain")}.`);
    if (against.notInFile.length > 0)
      printNote(context, `Not in ${flags.against}, so not compared with it: ${against.notInFile.join(", ")}.`);
  }
  if (chains.length === 0) printNote(context, "The ledger has no events of that connection and business.");
  if (found === 0) return;
  printNote(
    context,
    `${counted(found, "finding")}. What each means, and what to do: https://github.com/fiscalflow/fiscalflow/blob/main/docs/ledger.md#when-something-is-found`,
  );
  throw new CommandFailedError("");
}

/** How many of the chains an earlier look had seen, and which it had not. */
function comparison(
  chains: readonly VerifiedChain[],
  seen: readonly SeenHead[],
): { compared: number; notInFile: string[] } {
  const nameOf = ({ connection, businessId }: { connection: string; businessId: string }) =>
    `${connection}/${businessId}`;
  const known = new Set(seen.map(nameOf));
  const notInFile = chains.map(nameOf).filter((name) => !known.has(name));
  return { compared: chains.length - notInFile.length, notInFile };
}

const head = z.object({ count: z.int().nonnegative(), hash: z.string().regex(/^[0-9a-f]{64}$/) });
const verified = z.object({
  chains: z.array(z.object({ connection: z.string(), businessId: z.string(), head: head.nullable() })),
});

/** The heads that an earlier `ledger verify --json` printed. @throws UsageError */
async function readSeen(context: CliContext, path: string): Promise<SeenHead[]> {
  const parsed = verified.safeParse(parseJson(await readText(context, path), path));
  if (!parsed.success)
    throw new UsageError(`${path} is not what \`fiscalflow ledger verify --json\` printed: keep its output as it is.`);
  const heads = parsed.data.chains.flatMap(({ connection, businessId, head: seen }) =>
    seen === null ? [] : [{ connection, businessId, ...seen }],
  );
  if (heads.length === 0)
    throw new UsageError(`${path} has no head of a chain, so there is nothing to compare the ledger with.`);
  return heads;
}
