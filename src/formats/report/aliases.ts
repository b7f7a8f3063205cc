/**
 * Aliases in a report: `(generated from …)` of Exim, `(expanded from …)` of Postfix and Sendmail. The
 * delivery failed for an address behind the alias, even if the report's fields name the alias.
 */

const MAX_LENGTH = 60_000
const MAX_ALIASES = 50

const ALIAS_NOTE =
  /\((?:ultimately )?(?:generated|expanded)\s{1,9}from:?\s{1,20}<?([^\s<>()]{1,320})>?\s{0,9}\)/gi

/** Distinct aliases in lower case; only a local part if the report has no more. */
export function listAliases(notice: string): string[] {
  const found = notice.slice(0, MAX_LENGTH).matchAll(ALIAS_NOTE)
  const aliases = new Set<string>()
  for (const [, address = ''] of found) {
    aliases.add(address.toLowerCase())
    if (aliases.size === MAX_ALIASES) break
  }
  return [...aliases]
}
