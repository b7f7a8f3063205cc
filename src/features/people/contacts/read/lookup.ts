/** Finds which of the given addresses are contacts of a project. */
import { parseShownAddress } from '../../../../formats/address/named-mailbox.ts'
import { listOf } from '../../../../store/dialect.ts'
import { sql } from '../../../../store/drizzle.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Base } from '../../../ground/base.ts'

/** The texts of the request, unchanged and in their order. */
type LookupResult = { found: string[]; notFound: string[] }

export const selectAddresses = statement<{ address: string }>(
  () => sql`select email as address from contacts where project_id = ${parameter('projectId')}
    and email in ${listOf(parameter('addresses'))}`,
)

/** A text that is not an address counts as not found. */
export async function lookUpAddresses(
  { store }: Pick<Base, 'store'>,
  { projectId, emails }: { projectId: string; emails: readonly string[] },
): Promise<LookupResult> {
  const asked = emails.map((text) => ({ text, address: parseShownAddress(text)?.address }))
  const addresses = asked.flatMap(({ address }) => (address === undefined ? [] : [address]))
  const rows = await store.read.list(selectAddresses, {
    projectId,
    addresses: JSON.stringify(addresses),
  })
  const known = new Set<string | undefined>(rows.map(({ address }) => address))
  return {
    found: asked.filter(({ address }) => known.has(address)).map(({ text }) => text),
    notFound: asked.filter(({ address }) => !known.has(address)).map(({ text }) => text),
  }
}
