import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ConfigError } from "./config-error.ts";
import { loadTemporalConnection } from "./temporal-connection.ts";

/** Where Temporal's usual file is not. */
const NO_FILE = { HOME: "/nowhere", XDG_CONFIG_HOME: "/nowhere", APPDATA: "/nowhere" };

describe("the connection to Temporal", () => {
  it("follows Temporal's own variables", () => {
    const connection = loadTemporalConnection({
      env: {
        ...NO_FILE,
        TEMPORAL_ADDRESS: "temporal.example.com:7233",
        TEMPORAL_NAMESPACE: "sales",
        TEMPORAL_API_KEY: "key",
      },
    });
    expect(connection).toMatchObject({
      connectionOptions: { address: "temporal.example.com:7233", apiKey: "key", tls: true },
      namespace: "sales",
      addressGiven: true,
    });
  });

  it("says that no address was given, so that a server can be brought", () => {
    const connection = loadTemporalConnection({ env: { ...NO_FILE, TEMPORAL_ADDRESS: "", TEMPORAL_NAMESPACE: "" } });
    expect(connection).toMatchObject({ namespace: "default", addressGiven: false });
  });

  it("is refused as a problem of the configuration where a certificate or profile cannot be read", () => {
    const load = (env: Record<string, string>) => () => loadTemporalConnection({ env: { ...NO_FILE, ...env } });
    const pair = {
      TEMPORAL_TLS_CLIENT_CERT_PATH: "/nowhere/cert.pem",
      TEMPORAL_TLS_CLIENT_KEY_PATH: "/nowhere/key.pem",
    };
    expect(load(pair)).toThrow(ConfigError);
    expect(load({ TEMPORAL_PROFILE: "nowhere" })).toThrow(
      /TEMPORAL_\*: Temporal's configuration cannot be used: .*nowhere/,
    );
  });

  it("names the variable of a file that cannot be read, and the half of a client certificate that is missing", () => {
    const load = (env: Record<string, string>) => () => loadTemporalConnection({ env: { ...NO_FILE, ...env } });
    expect(load({ TEMPORAL_TLS_SERVER_CA_CERT_PATH: "/nowhere/ca.pem" })).toThrow(
      /TEMPORAL_TLS_SERVER_CA_CERT_PATH: .*ENOENT.*\/nowhere\/ca\.pem/,
    );
    expect(load({ TEMPORAL_TLS_CLIENT_CERT_DATA: "a certificate" })).toThrow(
      /TEMPORAL_TLS_CLIENT_KEY_PATH: .*a client certificate needs its key/,
    );
    expect(load({ TEMPORAL_TLS_CLIENT_KEY_DATA: "a key" })).toThrow(
      /TEMPORAL_TLS_CLIENT_CERT_PATH: .*the key of a client certificate needs the certificate/,
    );
    expect(load({ TEMPORAL_TLS: "false", TEMPORAL_TLS_CLIENT_KEY_DATA: "a key" })).not.toThrow();
  });

  it("says what a file without profiles lacks, and never shows the lines of a file that is not TOML", () => {
    const folder = mkdtempSync(join(tmpdir(), "fiscalflow-"));
    const file = join(folder, "temporal.toml");
    const load = () => loadTemporalConnection({ env: { TEMPORAL_CONFIG_FILE: file } });
    writeFileSync(file, "");
    expect(load).toThrow(/expected \[profile\.<name>\] tables in its file, found none/);
    writeFileSync(file, '[profile.default]\napi_key = "hidden" "hidden"\n');
    expect(load).toThrow(ConfigError);
    expect(load).not.toThrow(/hidden/);
    rmSync(folder, { recursive: true });
  });
});
