const SECRET_LIKE = /\b(sk_(?:development|production)_|whsec_(?:development|production)_|cs_)[^\s"'<>]+/g;
const LONGEST_EXCERPT = 500;

/** Takes keys and secrets out of a text that a service may have quoted them in. */
export function redactSecrets(text: string): string {
  return text.replaceAll(SECRET_LIKE, (_secret, prefix: string) => `${prefix}…`);
}

/** The beginning of a body, for people. */
export function excerptOf(bodyText: string): string {
  const text = redactSecrets(bodyText.slice(0, 4 * LONGEST_EXCERPT));
  return text.length <= LONGEST_EXCERPT ? text : `${text.slice(0, LONGEST_EXCERPT - 1)}…`;
}
