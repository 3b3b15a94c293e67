import type { TemporalConnection } from "../../config/index.ts";

/** The Temporal server of a demo: its own, or the one that the environment names. */
export interface DemoTemporal {
  readonly connectionOptions: TemporalConnection["connectionOptions"];
  readonly namespace: string;
  /** Without a slash at its end; undefined where nobody knows it. */
  readonly uiUrl: string | undefined;
  /** Its own server starts empty and ends with it; any other remembers what earlier demos did. */
  readonly own: boolean;
}
