import { longestCallbackUrl, MAX_CALLBACK_URL_LENGTH } from "../callbacks/callback-url.ts";
import type { callbackSettings } from "./callback-settings.ts";
import type { CallbackConfig } from "./config.ts";
import type { ConfigProblem } from "./config-error.ts";
import type { SettingsResult } from "./setting.ts";
import { addressOf, publicUrlProblem } from "./url-settings.ts";

/** The receiver's configuration from its settings; undefined where callbacks are not configured, or not well. */
export function checkCallbacks(
  { values, given, where }: SettingsResult<typeof callbackSettings>,
  problems: ConfigProblem[],
): CallbackConfig | undefined {
  const { publicUrl, secrets, port, host, allowLoopback = false } = values;
  if (!given.has("publicUrl") && !given.has("secrets")) return undefined;
  if (!given.has("publicUrl")) {
    problems.push({ path: where("publicUrl"), message: "is missing; callbacks need it besides the secrets" });
  }
  if (!given.has("secrets")) {
    problems.push({
      path: where("secrets"),
      message: "is missing; callbacks need at least one secret besides the public URL",
    });
  }
  if (publicUrl === undefined) return undefined;
  const address = addressOf(publicUrl);
  const message = publicUrlProblem(publicUrl, allowLoopback) ?? lengthProblem(address);
  if (message !== undefined) {
    problems.push({ path: where("publicUrl"), message });
    return undefined;
  }
  if (secrets === undefined || port === undefined || host === undefined) return undefined;
  return { publicUrl: address, secrets, port, host, allowLoopback };
}

function lengthProblem(publicUrl: string): string | undefined {
  const excess = longestCallbackUrl(publicUrl).length - MAX_CALLBACK_URL_LENGTH;
  if (excess <= 0) return undefined;
  return `expected at most ${publicUrl.length - excess} characters, so that every callback URL stays within the API's ${MAX_CALLBACK_URL_LENGTH}; found ${publicUrl.length}`;
}
