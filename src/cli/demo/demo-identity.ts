import { hostname } from "node:os";

/** How the demo's worker names itself to the server. */
export function demoIdentity(): string {
  return `fiscalflow-demo-${process.pid}@${hostname()}`;
}

/** The process behind such a name; undefined for any other worker's. */
export function demoProcessOf(identity: string): { pid: number; host: string } | undefined {
  const match = /^fiscalflow-demo-(\d+)@(.+)$/.exec(identity);
  return match?.[1] && match[2] ? { pid: Number(match[1]), host: match[2] } : undefined;
}
