/** Text without what a terminal would obey: names come from other people's systems. Line breaks stay. */
export function printable(text: string): string {
  return text.replace(/(?!\n)[\p{Cc}\u2028\u2029\u202A-\u202E\u2066-\u2069]|\p{Cs}/gu, "\uFFFD");
}
