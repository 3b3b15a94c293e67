import { connect, createServer, type Socket } from "node:net";

import { READY_LINE } from "../stack/spawn-script.ts";

export interface DelayOrders {
  readonly port: number;
  readonly targetPort: number;
  /** Each way. */
  readonly delayMs: number;
}

/**
 * A line to a server that is far away: all bytes arrive as they were sent, in order, so much later. In a process of its
 * own, for its processor time is not the worker's.
 */
const { port, targetPort, delayMs } = JSON.parse(process.argv[2] ?? "") as DelayOrders;

function carry(from: Socket, to: Socket): void {
  from.setNoDelay(true);
  // Timers of one length fire in the order in which they were set.
  from.on("data", (bytes) => setTimeout(() => to.write(bytes), delayMs));
  from.on("close", () => setTimeout(() => to.destroy(), delayMs));
  from.on("error", () => from.destroy());
}

createServer((near) => {
  const far = connect(targetPort, "127.0.0.1");
  carry(near, far);
  carry(far, near);
}).listen(port, "127.0.0.1", () => process.stdout.write(`${READY_LINE}\n`));
