/** The addresses that other servers see this server come from. */
import type { Config } from '../../../config/config.ts'
import { isPublicAddress } from '../../../outbound/routing/addresses.ts'

/**
 * `delivery.public_addresses`, else the public ones of `delivery.source_addresses`, else those of
 * `delivery.hostname` in DNS, which are `ofHostname`.
 */
export function ownAddresses(
  { delivery }: Pick<Config, 'delivery'>,
  ofHostname: readonly string[],
): readonly string[] {
  const { publicAddresses, sourceAddresses } = delivery
  if (publicAddresses.length > 0) return publicAddresses
  const sources = sourceAddresses.filter(isPublicAddress)
  return sources.length > 0 ? sources : ofHostname
}
