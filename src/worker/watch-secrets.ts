import type { MetricMeter } from "@temporalio/common";

import type { SecretWatch } from "../config/index.ts";
import type { KeyLog } from "./watch-keys.ts";

/** Takes 1 while the file of a secret is of no use, and 0 otherwise; `secret` is the secret's setting. */
export type SecretGauge = (value: 0 | 1, labels: { secret: string }) => void;

export const SECRET_GAUGE = {
  name: "fiscalflow_secret_file_refused",
  meaning: "1 while the file of a secret is missing, empty or of a wrong form, and the value of before is in use",
} as const;

export function gaugeIn(meter: MetricMeter): SecretGauge {
  const gauge = meter.createGauge(SECRET_GAUGE.name, "int", undefined, SECRET_GAUGE.meaning);
  return (value, labels) => gauge.set(value, labels);
}

/** One warning, and one alert, for a file that begins to be of no use, however often it is read; never a value. */
export function watchSecrets(log: KeyLog, gauge: SecretGauge = () => undefined): SecretWatch {
  return {
    replaced(secret) {
      log.info("a secret was replaced: its file has changed", { secret });
    },
    refused(secret, file, why) {
      log.warn("the file of a secret cannot be used: the value of before stays in use", { secret, file, why });
      gauge(1, { secret });
    },
    usable(secret) {
      log.info("the file of a secret can be used again", { secret });
      gauge(0, { secret });
    },
  };
}
