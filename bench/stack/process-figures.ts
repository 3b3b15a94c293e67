import { readFile } from "node:fs/promises";

/** Of Linux, where `/proc` counts processor time in hundredths of a second. */
const TICKS_PER_SECOND = 100;

/** The processor time that a process has used so far, user and system. */
export async function cpuMsOf(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8");
  // The second field, the name of the program, may hold spaces.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [userTicks, systemTicks] = [Number(fields[11]), Number(fields[12])];
  return ((userTicks + systemTicks) * 1_000) / TICKS_PER_SECOND;
}

/** Memory that a process holds now. */
export async function residentMbOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Math.round(Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) / 1_024);
}

/**
 * How long the main thread of a process has waited for a processor so far, in milliseconds: other work on the machine
 * had them all.
 */
export async function waitedMsOf(pid: number): Promise<number> {
  const [, nanoseconds] = (await readFile(`/proc/${pid}/schedstat`, "utf8")).split(" ");
  return Number(nanoseconds) / 1_000_000;
}
