import type { Rig } from "./start-rig.ts";

/** The variables with which a command of its own works on the rig's Temporal, simulator and ledger. */
export function commandEnv({ address, namespace, simulator, config }: Rig): Record<string, string> {
  return {
    TEMPORAL_ADDRESS: address,
    TEMPORAL_NAMESPACE: namespace,
    COMPLIANCE_BASE_URL: simulator.url,
    COMPLIANCE_API_KEY: "cmp_sk_test_simulator",
    COMPLIANCE_BUSINESS_ID: "biz_1",
    LEDGER_URL: config.ledger.url?.reveal() ?? "",
    FISCALFLOW_PAYLOAD_KEYS: config.payloadKeys.map((key) => key.reveal()).join(","),
  };
}
