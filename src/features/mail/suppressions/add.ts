/**
 * Adds addresses to a project's suppression list, as the project asks, and unsubscribes their contacts.
 * An address that is already on the list keeps its first reason.
 */
import type { ParsedAddress } from '../../../formats/address/address.ts'
import type { SuppressionReason } from '../../../store/schema/words.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import type { Base } from '../../ground/base.ts'
import { REASON_OF_SUPPRESSION } from '../../people/contacts/write/set-subscribed.ts'
import { unsubscribeAddresses } from '../../people/contacts/write/unsubscribe-addresses.ts'
import { suppress } from '../messages/outcome/suppression.ts'

type AddedSuppressions = {
  added: number
  /** Addresses that were on the list before. An address that is given twice counts once. */
  existing: number
}

type NewSuppressions = {
  projectId: string
  addresses: readonly ParsedAddress[]
  reason: SuppressionReason
  /** Their origin, as text for people; `API` if absent. */
  source?: string
}

/** Adds all addresses, or none when that fails. */
export async function addSuppressions(
  { store, now }: Pick<Base, 'store' | 'now'>,
  { projectId, addresses, reason, source = 'API' }: NewSuppressions,
): Promise<AddedSuppressions> {
  const unique = [...new Set(addresses.map(({ address }) => address))]
  const suppression = { projectId, addresses: unique, reason, source, at: now() }
  const added = await store.write((tx) => suppressAddresses(tx, suppression))
  return { added, existing: unique.length - added }
}

type SuppressedAddresses = {
  projectId: string
  /** In the form of `ParsedAddress.address`, each once. */
  addresses: readonly string[]
  reason: SuppressionReason
  /** The cause, as text for people. */
  source: string
  at: number
}

/** Like `addSuppressions`, in the caller's transaction. Returns how many were not on the list. */
export async function suppressAddresses(
  tx: Tx,
  { addresses, ...suppression }: SuppressedAddresses,
): Promise<number> {
  const { projectId, at } = suppression
  let added = 0
  for (const address of addresses) {
    if (await suppress(tx, { ...suppression, address, emailId: null })) added += 1
  }
  const reason = REASON_OF_SUPPRESSION[suppression.reason]
  const unled = new Map(addresses.map((address) => [address, null]))
  await unsubscribeAddresses(tx, { projectId, addresses: unled, reason, at })
  return added
}
