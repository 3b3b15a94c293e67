import type {
  ActivitySlotInfo,
  CustomSlotSupplier,
  NativeConnection,
  SlotPermit,
  WorkerTuner,
} from "@temporalio/worker";
import { setTimeout as delay } from "node:timers/promises";

/** Unused: it opens a poll. Used: a task has come for it. Returned: it counts no more. */
export interface Permit {
  state: "unused" | "used" | "returned";
}

interface Waiting {
  give: (permit: Permit) => void;
  signal: AbortSignal;
}

/** The request budget: whether a poll may be opened. */
export interface PollGate {
  isOpen: () => boolean;
  /** Calls back once, when it may have opened. @returns ends the wait */
  whenOpen: (listener: () => void) => () => void;
}

/**
 * For each so many tasks that came within a second, one more poll is opened: a poll 200 ms from its server brings five
 * a second.
 */
const TASKS_A_POLL = 4;
const SECOND_MS = 1_000;
/** The SDK's own number of pollers. */
const MOST_POLLS = 10;
/** A poll cannot be taken back when the gate shuts: what it brings has to wait behind it. */
const MOST_POLLS_AT_A_GATE = 4;

/**
 * How many tasks a queue's worker may have, and which of its permits a poll still holds. An idle worker holds one poll
 * open, and a busy one as many as its tasks need, so that a server far away does not bound it; and none while the gate
 * is shut, so that work waits on the server, in order. Once closed it gives out no more; those that are out come back
 * by themselves, each with a task or without.
 */
export class Permits {
  readonly #most: number;
  readonly #gate: PollGate | undefined;
  #endWait: (() => void) | undefined;
  readonly #waiting: Waiting[] = [];
  #onNoneUnused: (() => void)[] = [];
  readonly #nowMs: () => number;
  /** When the latest tasks came, as many as can matter; the oldest first. */
  readonly #cameAtMs: number[] = [];
  #unused = 0;
  #used = 0;
  #closed = false;

  /** @param most permits that may be used at once */
  constructor(most: number, gate?: PollGate, nowMs: () => number = Date.now) {
    if (!Number.isInteger(most) || most < 1) throw new RangeError(`expected at least 1 permit, found ${most}`);
    this.#most = most;
    this.#gate = gate;
    this.#nowMs = nowMs;
  }

  /** The next free permit, in the order of asking; none after the close. @throws the signal's reason */
  take(signal: AbortSignal): Promise<Permit> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const give = (permit: Permit): void => {
        signal.removeEventListener("abort", onAbort);
        resolve(permit);
      };
      const waiting = { give, signal };
      const onAbort = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
        reject(signal.reason);
      };
      signal.addEventListener("abort", onAbort, { once: true });
      this.#waiting.push(waiting);
      this.#serve();
    });
  }

  /** A permit for a task that comes without a poll, with the answer to a workflow task, if there is one at once. */
  tryTake(): Permit | undefined {
    if (!this.#hasRoom() || this.#gate?.isOpen() === false) return undefined;
    this.#unused += 1;
    return { state: "unused" };
  }

  /** A task has come for it. */
  use(permit: Permit): void {
    if (permit.state !== "unused") return;
    permit.state = "used";
    this.#used += 1;
    this.#cameAtMs.push(this.#nowMs());
    if (this.#cameAtMs.length > TASKS_A_POLL * MOST_POLLS) this.#cameAtMs.shift();
    this.#lessUnused();
  }

  /** Its task is done, or its poll has ended without one. A second time it changes nothing. */
  giveBack(permit: Permit): void {
    const { state } = permit;
    permit.state = "returned";
    if (state === "unused") this.#lessUnused();
    if (state === "used") {
      this.#used -= 1;
      this.#serve();
    }
  }

  close(): void {
    this.#closed = true;
    this.#endWait?.();
    this.#endWait = undefined;
  }

  get unused(): number {
    return this.#unused;
  }

  get used(): number {
    return this.#used;
  }

  /** Resolves as soon as no poll holds a permit. */
  noneUnused(): Promise<void> {
    if (this.#unused === 0) return Promise.resolve();
    return new Promise((resolve) => this.#onNoneUnused.push(resolve));
  }

  #lessUnused(): void {
    this.#unused -= 1;
    this.#serve();
    if (this.#unused > 0) return;
    for (const resolve of this.#onNoneUnused) resolve();
    this.#onNoneUnused = [];
  }

  #serve(): void {
    for (let [first] = this.#waiting; first && this.#unused < this.#pollsNeeded(); [first] = this.#waiting) {
      const permit = this.tryTake();
      if (!permit) return this.#waitForGate();
      this.#waiting.shift();
      first.give(permit);
    }
  }

  #hasRoom(): boolean {
    return !this.#closed && this.#unused + this.#used < this.#most;
  }

  #pollsNeeded(): number {
    const sinceMs = this.#nowMs() - SECOND_MS;
    const came = this.#cameAtMs.filter((atMs) => atMs > sinceMs).length;
    return Math.min(this.#gate ? MOST_POLLS_AT_A_GATE : MOST_POLLS, 1 + Math.floor(came / TASKS_A_POLL));
  }

  #waitForGate(): void {
    if (this.#endWait || !this.#hasRoom()) return;
    this.#endWait = this.#gate?.whenOpen(() => {
      this.#endWait = undefined;
      this.#serve();
    });
  }
}

/** Of the kinds of task that a worker never has. */
const NO_MATTER = { type: "fixed-size", numSlots: 1 } as const;

/** What runs in a worker that carries workflows, or serves a Nexus service, beside its activities. */
interface OtherTasks {
  /** Worked on at once. */
  workflowTasks: number;
  /** Calls through Nexus that are answered at once. */
  nexusTasks: number | undefined;
}

/** The permits of a worker's activities, in the words of Temporal's SDK. */
export function tunerOf(permits: Permits, others?: OtherTasks): WorkerTuner {
  const fixed = (numSlots: number | undefined) =>
    numSlots === undefined ? NO_MATTER : ({ type: "fixed-size", numSlots } as const);
  const activities: CustomSlotSupplier<ActivitySlotInfo> = {
    type: "custom",
    // A rejection with anything but the signal's reason would be logged as an error, and the SDK would ask again each
    // second.
    reserveSlot: (_context, signal) => permits.take(signal),
    // For activities that come with the answer to a workflow task.
    tryReserveSlot: () => permits.tryTake() ?? null,
    markSlotUsed: ({ permit }) => permits.use(own(permit)),
    releaseSlot: ({ permit }) => permits.giveBack(own(permit)),
  };
  return {
    activityTaskSlotSupplier: activities,
    workflowTaskSlotSupplier: fixed(others?.workflowTasks),
    localActivityTaskSlotSupplier: NO_MATTER,
    nexusTaskSlotSupplier: fixed(others?.nexusTasks),
  };
}

/** The SDK hands back the very object that it was given. */
function own(permit: SlotPermit): Permit {
  return permit as Permit;
}

/** A server ends a poll that has no task for it after a minute, unless it is configured otherwise. */
export const POLL_LASTS_MS = 65_000;

/**
 * Opens no further poll for activities, and waits until none is open, so that the workers can be shut down without
 * losing a task (docs/decisions, "A stopping worker waits for its polls"): a moment with work in the queue, up to a
 * minute without.
 */
export async function endPolls(permits: readonly Permits[], serverEndsPolls: boolean): Promise<void> {
  for (const one of permits) one.close();
  if (serverEndsPolls) return;
  const timer = new AbortController();
  const tooLate = delay(POLL_LASTS_MS, undefined, { signal: timer.signal }).catch(() => undefined);
  await Promise.race([Promise.all(permits.map((one) => one.noneUnused())), tooLate]);
  timer.abort();
}

/** Whether the server ends a worker's polls itself, without losing a task, when the worker shuts down. */
export async function endsPollsItself(connection: NativeConnection, namespace: string): Promise<boolean> {
  try {
    const { namespaceInfo } = await connection.workflowService.describeNamespace({ namespace });
    return namespaceInfo?.capabilities?.workerPollCompleteOnShutdown === true;
  } catch {
    // Not every server describes its namespaces to everybody; the wait is right with all of them.
    return false;
  }
}
