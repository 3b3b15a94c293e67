import { once } from "node:events";

import { ConfigError, loadConfig } from "../config/index.ts";
import { createPayloadCodec } from "../payloads/codec.ts";
import { createCodecServer } from "./codec-server.ts";
import { createLogger, temporalLogger } from "./create-logger.ts";
import { listenError } from "./health.ts";
import { sweepHeapEarly, warnOfUnknown } from "./process.ts";
import type { WorkerProcessOptions } from "./run-worker-process.ts";
import { watchSecrets } from "./watches.ts";

/**
 * The process that decrypts payloads for Temporal's UI and CLI: serves until it is asked to stop. It calls nobody.
 * @throws ConfigError, or where the port cannot be used
 */
export async function runCodecProcess({ env, logTo, signal }: WorkerProcessOptions): Promise<void> {
  sweepHeapEarly();
  const config = loadConfig({ env, needs: ["codec"] });
  const { codec, logLevel, payloadKeys } = config;
  if (!codec) throw new ConfigError([{ path: "FISCALFLOW_CODEC_TOKEN", message: "is missing" }]);
  const log = createLogger(logLevel, logTo, "fiscalflow-codec");
  warnOfUnknown(config, log);
  const { token, origins, ...address } = codec;
  const server = createCodecServer({
    codec: createPayloadCodec(payloadKeys.map((key) => key.reveal())),
    token: () => token.reveal(),
    origins,
    log,
  });
  const endReadings = config.secretFiles.start(watchSecrets(temporalLogger(log), undefined));
  try {
    const url = await server.listen(address).catch((error: unknown) => {
      throw error instanceof Error ? listenError("FISCALFLOW_CODEC", address, error) : error;
    });
    log.info({ url, origins, keys: payloadKeys.length }, "serving the codec");
    if (origins.length === 0)
      log.warn({}, "FISCALFLOW_CODEC_ORIGINS is empty: no web page may ask, so Temporal's UI shows cipher text");
    if (!signal.aborted) await once(signal, "abort");
  } finally {
    endReadings();
    await server.close();
  }
  log.info("stopped");
}
