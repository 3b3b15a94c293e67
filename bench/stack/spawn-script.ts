import { spawnGuarded } from "../../src/servers/run-command.ts";

export interface ScriptProcess {
  readonly pid: number;
  stop(): Promise<void>;
}

/** The line with which a script says that it does its work. */
export const READY_LINE = "ready";

/**
 * A compiled script of the benchmark in a process of its own, with its orders as its only argument. Resolves once it is
 * ready.
 */
export async function spawnScript(
  path: string,
  orders: unknown,
  onLost: (error: Error) => void,
): Promise<ScriptProcess> {
  let stopping = false;
  let sayReady: () => void = () => undefined;
  const ready = new Promise<true>((resolve) => (sayReady = () => resolve(true)));
  const child = spawnGuarded(process.execPath, [path, JSON.stringify(orders)], {
    env: { PATH: process.env["PATH"] },
    onLine: (line) => {
      if (line === READY_LINE) sayReady();
    },
  });
  const ended = child.ended.then(({ description }) => description);
  const lost = (description: string): Error => new Error(`${path} ${description}:\n${child.output()}`);
  const first = await Promise.race([ready, ended]);
  if (first !== true) throw lost(first);
  void ended.then((description) => {
    if (!stopping) onLost(lost(description));
  });
  return {
    // It has said that it is ready.
    pid: child.pid ?? 0,
    async stop() {
      stopping = true;
      child.signal("SIGKILL");
      await ended;
    },
  };
}
