import type { CallTarget } from "./calls.ts";

/** How long a call is tried already that the service does not take. */
export interface ServiceWait {
  /** When it was tried last, and since when in vain (Unix milliseconds): its own tries become rarer with its age. */
  triedAtMs: number;
  sinceMs: number;
  /** What the key was refused; absent where the call was put off, or its answer lost. */
  refused?: { status?: number; operation?: string };
}

/** Waits, as an activity that is tried again, until a call that the service did not take is worth another try. */
export interface AwaitServiceRequest extends CallTarget, ServiceWait {}
