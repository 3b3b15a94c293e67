import { flagSetting, hostSetting, portSetting } from "./plain-settings.ts";
import { LOOPBACK } from "./process-settings.ts";
import { secretListSetting } from "./secret-settings.ts";
import { plainUrlSetting } from "./url-settings.ts";

const MIN_SECRET_LENGTH = 32;

/** The receiver of result callbacks; used once a public URL or secrets are given. */
export const callbackSettings = {
  publicUrl: plainUrlSetting({
    variable: "CALLBACK_PUBLIC_URL",
    meaning: "the https URL under which the API reaches the receiver; without it, polling alone finishes every sale",
    defaultText: "none: no callbacks",
    example: "https://callbacks.example.com",
  }),
  secrets: secretListSetting(
    (value) =>
      value.length < MIN_SECRET_LENGTH
        ? `expected at least ${MIN_SECRET_LENGTH} characters, found ${value.length}; \`openssl rand -base64 32\` makes one`
        : undefined,
    {
      variable: "CALLBACK_SECRETS",
      meaning: `at least ${MIN_SECRET_LENGTH} characters each: the first one signs callback URLs, and all of them are accepted`,
      variableNote: "several are separated by commas",
      defaultText: "none",
      example: [{ env: "CALLBACK_SECRET_OF_THIS_YEAR" }, { file: "/run/secrets/callback-secret-of-last-year" }],
    },
  ),
  port: portSetting({
    variable: "CALLBACK_PORT",
    meaning: "the port on which the receiver listens",
    fallback: 8080,
  }),
  host: hostSetting({
    variable: "CALLBACK_HOST",
    meaning:
      "the IP address on which `CALLBACK_PORT` listens: the loopback address suits a proxy on the same machine that ends TLS; `0.0.0.0` or `::` for all, as in the container image",
    fallback: LOOPBACK,
  }),
  allowLoopback: flagSetting({
    variable: "CALLBACK_ALLOW_LOOPBACK",
    meaning: "an http URL on loopback is accepted as the public URL (for the simulator and tests only)",
    variableNote: "`1` or `0`",
    fallback: false,
  }),
};
