/**
 * What a TLS handshake fails on.
 *
 * - `untrusted`, `wrong-name`, `expired`, `not-yet-valid`: the server's certificate
 * - `plain-text`: the server does not speak TLS
 * - `client-certificate`: the server refuses the client's certificate, or wants one and gets none
 * - `handshake`: anything else, such as no common version
 */
export type TlsTrouble =
  | "untrusted"
  | "wrong-name"
  | "expired"
  | "not-yet-valid"
  | "plain-text"
  | "client-certificate"
  | "handshake";

/** Node's codes: those of OpenSSL's verification (`X509_V_ERR_…`), and its reasons as `ERR_SSL_…`. */
const BY_CODE: readonly (readonly [RegExp, TlsTrouble])[] = [
  [/^ERR_TLS_CERT_ALTNAME_INVALID$/, "wrong-name"],
  [/^CERT_HAS_EXPIRED$/, "expired"],
  [/^CERT_NOT_YET_VALID$/, "not-yet-valid"],
  [/^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_|CERT_|INVALID_CA$)/, "untrusted"],
  [/^ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST|RECORD_LAYER_FAILURE)$/, "plain-text"],
  // `handshake failure` is how TLS 1.2 says that it wants a certificate.
  [
    /^ERR_SSL_.*_ALERT_(CERTIFICATE_|BAD_CERTIFICATE|UNKNOWN_CA|UNSUPPORTED_CERTIFICATE|HANDSHAKE_FAILURE|ACCESS_DENIED)/,
    "client-certificate",
  ],
  [/^ERR_SSL_/, "handshake"],
];

/** Undefined: the failure is not one of TLS. */
export function tlsTroubleOf(error: unknown): TlsTrouble | undefined {
  if (!(error instanceof Error) || !("code" in error) || typeof error.code !== "string") return undefined;
  const { code } = error;
  return BY_CODE.find(([pattern]) => pattern.test(code))?.[1];
}

/** What it means, for people. */
export const TLS_TROUBLE: Readonly<Record<TlsTrouble, string>> = {
  untrusted: "the server's certificate is not issued by a CA that is trusted here",
  "wrong-name": "the server's certificate is for another name",
  expired: "the server's certificate has expired",
  "not-yet-valid": "the server's certificate is not valid yet",
  "plain-text": "the server does not speak TLS",
  "client-certificate": "the server refused the TLS handshake, as it does without a client certificate that it accepts",
  handshake: "the TLS handshake failed",
};
