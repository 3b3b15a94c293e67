import { triggerFault } from "../../src/dev/simulator/triggers.ts";
import { salesOf } from "./sales-of.ts";
import { type Rig, type RigOptions, startRig } from "./start-rig.ts";

/** A rig whose workers have seen the API in order and read its catalogue: a sale's first call issues it. */
export async function startRigInOrder(options: RigOptions = {}): Promise<Rig> {
  const rig = await startRig({ receiver: false, ...options });
  await (await salesOf(() => rig).start("IN-ORDER")).result();
  return rig;
}

/** @param rig asked when it is needed: a suite's helpers are there before its rig */
export function outagesOf(rig: () => Rig) {
  let end = (): void => undefined;
  return {
    away: (): void => {
      end = rig().simulator.inject(triggerFault("away", {}));
    },
    /** Does nothing while it is not away. */
    backAgain: (): void => end(),
  };
}
