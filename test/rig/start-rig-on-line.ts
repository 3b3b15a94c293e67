import { inject } from "vitest";

import { type CuttableLine, startCuttableLine } from "./cuttable-line.ts";
import { freshDatabase, listenerOf, throughPort } from "./fresh-database.ts";
import { type Rig, type RigOptions, startRig } from "./start-rig.ts";

export interface RigOnLine {
  rig: Rig;
  /** Between the rig and its ledger's database. */
  line: CuttableLine;
  /** Past the line. */
  databaseUrl: string;
  close(): Promise<void>;
}

/** Each try meets an outage for this long; half of the product's. */
const LEDGER_TIMEOUT_MS = 1_500;

/**
 * A rig whose ledger has a database of its own, behind a line that a test can cut.
 * @param onSent sees what goes to the database, before the database does
 */
export async function startRigOnLine(
  options: Omit<RigOptions, "env"> = {},
  onSent?: (bytes: Buffer) => void,
): Promise<RigOnLine> {
  const databaseUrl = await freshDatabase(inject("ledgerServerUrl"));
  const line = await startCuttableLine(listenerOf(databaseUrl), onSent);
  try {
    const env = { LEDGER_URL: throughPort(databaseUrl, line.port) };
    const rig = await startRig({ ledgerTimeoutMs: LEDGER_TIMEOUT_MS, ...options, env });
    const close = async (): Promise<void> => {
      await rig.close();
      await line.close();
    };
    return { rig, line, databaseUrl, close };
  } catch (error) {
    await line.close();
    throw error;
  }
}
