import { expect } from "vitest";

import { callCli, type CliResult } from "../../src/cli/test-support/call-cli.ts";
import type { ClosedStatus } from "../../src/contract/index.ts";
import type { BusinessReport } from "../../src/ledger/index.ts";
import { keepClosedRuns } from "../../src/worker/each-minute.ts";
import { commandEnv } from "./command-env.ts";
import type { Rig } from "./start-rig.ts";

export const BUSINESS = { connection: "default", businessId: "biz_1" };

export interface Listed {
  invoice: string;
  stage: string;
  status: string;
  attention: string | null;
  waitsFor: string;
  creditNote: string | null;
  buyer: string | null;
  amount: string | null;
  startedAt: string;
}

/**
 * What everybody says of the suite's sales: the command line, its list and its report, and the ledger's own rows.
 * @param rig asked when it is needed: a suite's helpers are there before its rig
 */
export function viewsOf(rig: () => Rig) {
  function fiscalflow(...argv: string[]): Promise<CliResult> {
    return callCli(argv, { env: env() });
  }
  function env(): Record<string, string> {
    return commandEnv(rig());
  }
  async function json<Answer>(...argv: string[]): Promise<Answer> {
    const { exitCode, stdout, stderr } = await fiscalflow(...argv, "--json");
    if (exitCode !== 0) throw new Error(stderr);
    return JSON.parse(stdout) as Answer;
  }
  async function report(): Promise<BusinessReport> {
    const { businesses } = await json<{ businesses: BusinessReport[] }>("report", "day");
    const [found] = businesses;
    if (!found) throw new Error("the ledger has documents");
    return found;
  }
  const listed = (...flags: string[]) => json<Listed[]>("sale", "list", ...flags);
  const row = async (invoice: string) => (await rig().ledger.documents.findSale(BUSINESS, invoice))?.record;
  return {
    fiscalflow,
    report,
    row,
    listed,
    listedAs: async (invoice: string, ...flags: string[]): Promise<Listed[]> =>
      (await listed(...flags)).filter((one) => one.invoice === invoice),
    shown: (invoice: string) => json<Record<string, unknown>>("sale", "show", invoice),
    openNumbers: async (): Promise<string[]> => (await report()).open.map(({ number }) => number),
    endedNumbers: async (): Promise<string[]> => (await report()).ended.documents.map(({ number }) => number),
    /** As a worker does each minute; lists follow the runs by a moment. */
    recordedInLedger: async (status: ClosedStatus, ...invoices: string[]): Promise<void> => {
      await expect
        .poll(async () => {
          await keepClosedRuns(rig().client, rig().ledger);
          return Promise.all(invoices.map(async (invoice) => (await row(invoice))?.closed?.status));
        })
        .toEqual(invoices.map(() => status));
    },
  };
}
