import { SEARCH_ATTRIBUTES } from "../../contract/index.ts";
import { findTemporalCli } from "../../servers/find-temporal-cli.ts";
import { isPortFree } from "../../servers/free-port.ts";
import { ServerError } from "../../servers/run-command.ts";
import { type DevServer, startDevServer } from "../../servers/start-dev-server.ts";
import type { Cleanup } from "./cleanup.ts";
import type { DemoTemporal } from "./demo-temporal.ts";

/** The ports that Temporal's own documentation shows, so that links and commands look familiar. */
const USUAL_PORT = 7233;
const USUAL_UI_PORT = 8233;
const NAMESPACE = "default";

interface Start {
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
  readonly cleanup: Cleanup;
  readonly onProgress: (line: string) => void;
}

/**
 * A Temporal server of the demo's own, with its UI, in memory.
 * @throws ServerError
 */
export async function startOwnTemporal(start: Start): Promise<DemoTemporal> {
  const { env, signal, cleanup, onProgress } = start;
  const path = await findTemporalCli({ env, onProgress, signal });
  const starting = onFamiliarPorts({ ...env, TEMPORAL_CLI_PATH: path }, signal);
  cleanup.add("Temporal", async () => {
    const server = await starting.catch(() => undefined);
    // It keeps everything in memory: there is nothing that a slow end would save.
    server?.kill();
    await server?.stop();
  });
  const server = await starting;
  return { connectionOptions: { address: server.address }, namespace: NAMESPACE, uiUrl: server.uiUrl, own: true };
}

async function onFamiliarPorts(env: NodeJS.ProcessEnv, signal: AbortSignal): Promise<DevServer> {
  const [port, uiPort] = await Promise.all(
    [USUAL_PORT, USUAL_UI_PORT].map(async (usual) => ((await isPortFree(usual)) ? usual : 0)),
  );
  const common = { env, signal, namespaces: [NAMESPACE], searchAttributes: Object.values(SEARCH_ATTRIBUTES) };
  try {
    return await startDevServer({ ...common, port: port ?? 0, uiPort: uiPort ?? 0 });
  } catch (error) {
    // Somebody may have taken one of them between the look and the start; free ones serve as well.
    if (!(error instanceof ServerError) || (port === 0 && uiPort === 0)) throw error;
    return await startDevServer({ ...common, port: 0, uiPort: 0 });
  }
}
