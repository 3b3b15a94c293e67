import { once } from "node:events";

import { ConfigError } from "../config/index.ts";
import { createPayloadCodec } from "../payloads/codec.ts";
import { beginProcess, type ProcessOptions } from "./begin-process.ts";
import { createCodecServer } from "./codec-server.ts";
import { temporalLogger } from "./create-logger.ts";
import { listenError } from "./health.ts";
import { watchSecrets } from "./watches.ts";

/**
 * The process that decrypts payloads for Temporal's UI and CLI: serves until it is asked to stop. It calls nobody.
 * @throws ConfigError, or where the port cannot be used
 */
export async function runCodecProcess(options: ProcessOptions): Promise<void> {
  const { config, log } = beginProcess(options, "fiscalflow-codec", { needs: ["codec"], usesLedger: false });
  const { codec, payloadKeys } = config;
  if (!codec) throw new ConfigError([{ path: "FISCALFLOW_CODEC_TOKEN", message: "is missing" }]);
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
    if (!options.signal.aborted) await once(options.signal, "abort");
  } finally {
    endReadings();
    await server.close();
  }
  log.info("stopped");
}
