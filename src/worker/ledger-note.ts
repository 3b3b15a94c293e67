import { type Client, ScheduleAlreadyRunning, ScheduleNotFoundError, type ScheduleOptions } from "@temporalio/client";
import { z } from "zod";

import { MAIN_TASK_QUEUE, SCHEDULE_PREFIX } from "../contract/index.ts";

/**
 * What the workers of a namespace have seen of their ledger last, kept by Temporal: after the restore of a backup the
 * database itself does not know what it has lost. It is the note of a Schedule that is paused and has no times, since
 * that leaves no workflow behind.
 */
export const LEDGER_SCHEDULE = `${SCHEDULE_PREFIX}ledger`;

const note = z.object({
  /** The id that the tables were made with. */
  ledger: z.string(),
  /** PostgreSQL's system identifier and timeline. */
  server: z.string(),
  events: z.int().nonnegative(),
});

export type LedgerNote = z.infer<typeof note>;

/** Somebody may wait for it within one operation of the ledger. */
const READ_MS = 1_500;
const WRITE_MS = 5_000;

/** Undefined: no worker has written one yet, or a person has written something else. @throws what Temporal's client throws */
export async function readLedgerNote(client: Client): Promise<LedgerNote | undefined> {
  try {
    const { state } = await client.withDeadline(Date.now() + READ_MS, () =>
      client.schedule.getHandle(LEDGER_SCHEDULE).describe(),
    );
    return noteOf(state.note);
  } catch (error) {
    if (error instanceof ScheduleNotFoundError) return undefined;
    throw error;
  }
}

function noteOf(text: string | undefined): LedgerNote | undefined {
  try {
    return note.parse(JSON.parse(text ?? ""));
  } catch {
    return undefined;
  }
}

/** @throws what Temporal's client throws */
export async function writeLedgerNote(client: Client, { ledger, server, events }: LedgerNote): Promise<void> {
  const text = JSON.stringify({ ledger, server, events });
  const handle = client.schedule.getHandle(LEDGER_SCHEDULE);
  const update = (): Promise<void> =>
    handle.update(({ spec, action, policies, state }) => ({
      spec,
      action: { ...action, type: "startWorkflow" },
      policies,
      state: { ...state, paused: true, note: text },
    }));
  await client.withDeadline(Date.now() + WRITE_MS, async () => {
    try {
      await update();
    } catch (error) {
      if (!(error instanceof ScheduleNotFoundError)) throw error;
      await client.schedule.create(scheduleWith(text)).catch((failed: unknown) => {
        // Another process has made it at the same time.
        if (failed instanceof ScheduleAlreadyRunning) return update();
        throw failed;
      });
    }
  });
}

function scheduleWith(text: string): ScheduleOptions {
  return {
    scheduleId: LEDGER_SCHEDULE,
    spec: {},
    // Temporal asks for one. A person who triggers it by hand gets a run that ends by itself.
    action: {
      type: "startWorkflow",
      workflowType: "ledgerNote",
      taskQueue: MAIN_TASK_QUEUE,
      workflowExecutionTimeout: "1 second",
    },
    state: { paused: true, note: text },
  };
}
