import type { CallTarget, ConnectionProfile } from "../../src/contract/index.ts";
import { type Calls, callsOf } from "../proxies.ts";
import type { Run } from "../run/run.ts";

/** What every step of a document needs: its run, its connection, and the calls that go there. */
export interface Work {
  run: Run;
  profile: ConnectionProfile;
  target: CallTarget;
  calls: Calls;
}

export function workOf(run: Run, profile: ConnectionProfile): Work {
  const { connection, businessId } = profile;
  const calls = callsOf(profile, () => run.retriedAtMs);
  const target = { connection, businessId };
  run.awaitService = (wait) => calls.wait.awaitService({ ...target, ...wait });
  return { run, profile, calls, target };
}
