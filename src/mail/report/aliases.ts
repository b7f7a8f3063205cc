/**
 * Addresses that a report calls the way to somebody else: `(generated from …)` of Exim,
 * `(expanded from …)` of Postfix and Sendmail. What failed is an address behind them, also where
 * the report's fields name the alias.
 */

const MAX_LENGTH = 60_000
const MAX_ALIASES = 50

const ALIAS_NOTE =
  /\((?:ultimately )?(?:generated|expanded)\s{1,9}from:?\s{1,20}<?([^\s<>()]{1,320})>?\s{0,9}\)/gi

/** In lower case, each once; a local part alone where the report says no more. */
export function listAliases(notice: string): string[] {
  const found = notice.slice(0, MAX_LENGTH).matchAll(ALIAS_NOTE)
  const aliases = new Set<string>()
  for (const [, address = ''] of found) {
    aliases.add(address.toLowerCase())
    if (aliases.size === MAX_ALIASES) break
  }
  return [...aliases]
}
