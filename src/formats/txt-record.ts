/**
 * Selects the TXT records that are read for a policy or a key: SPF (RFC 7208), DKIM (RFC 6376),
 * DMARC (RFC 7489).
 */

/**
 * Characters of the longest TXT record that is read. Real ones have some 2,000 at most, but the
 * owner of a domain may publish 64 KB, and SPF macros take time that grows with the square of their
 * length.
 */
export const MAX_TXT_LENGTH = 4_096

/**
 * Returns the records that are short enough to be read. A record is a list of strings (RFC 1035
 * section 3.3.14).
 */
export function listReadable(records: readonly string[][]): string[][] {
  return records.filter((strings) => {
    return strings.reduce((sum, { length }) => sum + length, 0) <= MAX_TXT_LENGTH
  })
}
