/** Reads a text that is to be verified as an address. */
import { type ParsedAddress, parseAddress } from '../../../formats/address/address.ts'
import { parseShownAddress } from '../../../formats/address/named-mailbox.ts'

/**
 * `text`: the text that the result shows: the given one, or for `a@example.com <a@example.com>` the
 * address alone.
 */
export type VerifiableAddress = { text: string; address: ParsedAddress }

/** Undefined for a text that is not an address. */
export function readVerifiableAddress(text: string): VerifiableAddress | undefined {
  const plain = parseAddress(text)
  if (plain !== undefined) return { text, address: plain }
  const shown = parseShownAddress(text)
  return shown === undefined ? undefined : { text: shown.address, address: shown }
}
