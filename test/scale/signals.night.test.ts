import { afterAll, beforeAll, expect, test } from "vitest";

import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { salesOf } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";

/** The server takes 10,000 of a run, and refuses the rest. */
const SIGNALS = Number(process.env["SIGNALS"] ?? 11_000);
const AT_ONCE = 200;

/** To send so many takes most of the time. */
const LONG_MS = 800_000;

describeWithTemporal(`${SIGNALS} signals to one sale`, () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig({ receiver: false });
  });
  afterAll(() => rig?.close());
  const { start, handleOf, result } = salesOf(() => rig);

  test(
    "end no process, and the sale completes",
    async () => {
      const invoice = "STORM-1";
      rig.simulator.setAuthority(invoice, [{ do: "down" }]);
      await start(invoice, { stock: "off" });
      await rig.stateWhen(invoice, ({ stage }) => stage === "awaiting-authority");
      const handle = handleOf(invoice);
      let refused = 0;
      const send = () => handle.signal("callbackReceived", { event: "sale.pending" }).catch(() => void (refused += 1));
      for (let sent = 0; sent < SIGNALS; sent += AT_ONCE) await Promise.all(Array.from({ length: AT_ONCE }, send));
      // One whose answer was lost has come all the same.
      const { callbacksReceived: received } = await rig.stateWhen(
        invoice,
        ({ callbacksReceived }) => callbacksReceived >= SIGNALS - refused,
      );
      // Another worker loads the whole history, all of it in one workflow task.
      await rig.stopWorkers();
      await rig.startWorkers();
      await rig.stateWhen(invoice, ({ callbacksReceived }) => callbacksReceived >= received);
      rig.simulator.setAuthority(invoice, [{ do: "accept" }]);
      expect(await result(invoice)).toMatchObject({ stage: "completed" });
      // As many as the signals and, for them all, a few workflow tasks: far below the 51,200 that a run may have.
      expect((await handle.describe()).historyLength).toBeLessThan(40_000);
    },
    LONG_MS,
  );
});
