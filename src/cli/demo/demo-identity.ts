/** What the demo's worker is called in its identity. */
export const DEMO_WORKER = "fiscalflow-demo";

const DEMO_IDENTITY = new RegExp(`^${DEMO_WORKER}-(\\d+)-[0-9a-f]+@(.+)$`);

/** The process behind the identity of a demo's worker; undefined for any other worker's. */
export function demoProcessOf(identity: string): { pid: number; host: string } | undefined {
  const match = DEMO_IDENTITY.exec(identity);
  return match?.[1] && match[2] ? { pid: Number(match[1]), host: match[2] } : undefined;
}
