/** TXT records that hold a policy or a key: SPF (RFC 7208), DKIM (RFC 6376), DMARC (RFC 7489). */

/**
 * Characters of a TXT record that is read. Real ones have at most some 2,000; the owner of a domain may
 * publish 64 KB, and the time that SPF macros of that length take grows with the square of the length.
 */
export const MAX_TXT_LENGTH = 4_096

/** The records without those that are too long to be read. A record: its strings (RFC 1035 section 3.3.14). */
export function listReadable(records: readonly string[][]): string[][] {
  return records.filter((strings) => {
    return strings.reduce((sum, { length }) => sum + length, 0) <= MAX_TXT_LENGTH
  })
}
