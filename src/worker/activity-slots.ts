import type { ActivitySlotInfo, CustomSlotSupplier, SlotPermit, WorkerTuner } from "@temporalio/worker";

import { type PollGate, type Permit, Permits } from "./permits.ts";

/** Of the kinds of task that a worker never has. */
const NO_MATTER = { type: "fixed-size", numSlots: 1 } as const;

/** The slots of a worker's activities: {@link Permits}, in the words of Temporal's SDK. */
export class ActivitySlots {
  readonly #permits: Permits;
  readonly tuner: WorkerTuner;

  /**
   * @param most activities that run at once
   * @param gate shut while the request budget has nothing for the queue
   * @param workflowTasks of a worker that carries workflows too: those that it works on at once
   * @param nexusTasks of a worker that serves a Nexus service: the calls that it answers at once
   */
  constructor(most: number, gate?: PollGate, workflowTasks?: number, nexusTasks?: number) {
    this.#permits = new Permits(most, gate);
    this.tuner = {
      activityTaskSlotSupplier: supplierOf(this.#permits),
      workflowTaskSlotSupplier:
        workflowTasks === undefined ? NO_MATTER : { type: "fixed-size", numSlots: workflowTasks },
      localActivityTaskSlotSupplier: NO_MATTER,
      nexusTaskSlotSupplier: nexusTasks === undefined ? NO_MATTER : { type: "fixed-size", numSlots: nexusTasks },
    };
  }

  /** From now on no poll is opened; one that is open goes on. */
  close(): void {
    this.#permits.close();
  }

  /** Resolves once no poll is open. A task that the last one brought is running then. */
  pollsEnded(): Promise<void> {
    return this.#permits.noneUnused();
  }
}

function supplierOf(permits: Permits): CustomSlotSupplier<ActivitySlotInfo> {
  return {
    type: "custom",
    // A rejection with anything but the signal's reason would be logged as an error, and the SDK would ask again each
    // second.
    reserveSlot: (_context, signal) => permits.take(signal),
    // For activities that come with the answer to a workflow task.
    tryReserveSlot: () => permits.tryTake() ?? null,
    markSlotUsed: ({ permit }) => permits.use(own(permit)),
    releaseSlot: ({ permit }) => permits.giveBack(own(permit)),
  };
}

/** The SDK hands back the very object that it was given. */
function own(permit: SlotPermit): Permit {
  return permit as Permit;
}
