/**
 * Finds whom a signed link, an unsubscribe address or a complaint acts for: the address that the
 * mail went to, and the contact of that mail at its present address. Mail of a workflow to another
 * address than the contact's acts for that address alone. For a deleted email or contact, the
 * digest of the address, in the link or in `erased_recipients`, stands for the address. The digest
 * also leads to a contact that has since got a former address of the link's owner.
 */
import type { Statements } from '../../../../store/database.ts'
import { addressDigest } from '../../../../store/dialect.ts'
import { sql } from '../../../../store/drizzle.ts'
import { wentToOther } from '../../../../store/email-terms.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import {
  type ErasedRecipient,
  findErasedByDigest,
  findErasedByIds,
} from '../../wishes/erased-recipients.ts'

export type SignedLink = {
  /**
   * The owner of the link; undefined for mail that has an address but no contact. If the link has a
   * digest too, the mail went to this contact itself.
   */
  contactId: string | undefined
  emailId: string | undefined
  /** The digest of the address that the mail went to; absent in links of earlier versions. */
  digest?: Buffer | undefined
}

export type LinkSubject = {
  /** The project of the mail; null if only the digest in the link is left. */
  projectId: string | null
  /** The digests of all addresses that a wish counts for. */
  digests: readonly Buffer[]
  /** The contacts that change, the owner of the link first. */
  contactIds: readonly string[]
  /** The address of the mail, if no contact has it and its email is still there. */
  address: string | null
}

type LinkedContact = { id: string; projectId: string; address: string; digest: Buffer }
type MailedTo = {
  contactId: string
  projectId: string
  address: string
  digest: Buffer
  /** The contact that has the address now. */
  holderId: string | null
  isToOther: number
}

const findLinkedContact = statement<LinkedContact>(
  () => sql`select id, project_id as projectId, email as address,
      ${addressDigest(sql`project_id`, sql`email`)} as digest
    from contacts where id = ${parameter('id')}`,
)

const findMailedTo = statement<MailedTo>(
  () => sql`select emails.contact_id as contactId, emails.project_id as projectId,
      emails.recipient as address,
      ${addressDigest(sql`emails.project_id`, sql`emails.recipient`)} as digest,
      (select id from contacts where contacts.project_id = emails.project_id
        and contacts.email = emails.recipient) as holderId,
      ${wentToOther} as isToOther
    from emails where emails.id = ${parameter('id')} and emails.state <> 'received'`,
)

const findHolder = statement<{ id: string }>(
  () => sql`select id from contacts where id = ${parameter('id')}
    and ${addressDigest(sql`project_id`, sql`email`)} = ${parameter('digest')}`,
)

/**
 * Returns undefined if neither the rows that the link names nor a digest of the address are left:
 * they were deleted before digests were kept.
 */
export async function findLinkSubject(
  reader: Pick<Statements, 'find' | 'list'>,
  { contactId, emailId, digest }: SignedLink,
): Promise<LinkSubject | undefined> {
  const mailed =
    emailId === undefined ? undefined : await reader.find(findMailedTo, { id: emailId })
  const isNamed = digest !== undefined && contactId !== undefined
  const ownerId = mailed === undefined || isNamed ? contactId : ownerOf(mailed)
  const owner =
    ownerId === undefined ? undefined : await reader.find(findLinkedContact, { id: ownerId })
  const isWhole = mailed !== undefined || (owner !== undefined && digest?.equals(owner.digest))
  const erased = isWhole ? [] : await findErased(reader, { contactId, emailId, digest, owner })
  const returned: string[] = []
  for (const each of erased) {
    const id = each.contactId
    const holder = id === null ? undefined : await reader.find(findHolder, { id, ...pick(each) })
    if (holder !== undefined) returned.push(holder.id)
  }
  const digests = [owner?.digest, mailed?.digest, digest, ...erased.map((each) => each.digest)]
  const known = [...digests.filter((each) => each !== undefined)]
  if (known.length === 0) return undefined
  const contactIds = [owner?.id, mailed?.holderId, ...returned]
  return {
    projectId: owner?.projectId ?? mailed?.projectId ?? erased[0]?.projectId ?? null,
    digests: known.filter((each, index) => known.findIndex((one) => one.equals(each)) === index),
    contactIds: [...new Set(contactIds.filter((id) => id !== undefined && id !== null))],
    address: mailed?.address ?? null,
  }
}

function ownerOf({ isToOther, contactId }: MailedTo): string | undefined {
  return isToOther === 1 ? undefined : contactId
}

function pick({ digest }: ErasedRecipient): { digest: Buffer } {
  return { digest }
}

/**
 * Finds the deleted email and the deleted contact of a link. An email may be deleted while its
 * contact stays: it was deleted with other mail, or went to another address than the contact's.
 */
async function findErased(
  reader: Pick<Statements, 'find' | 'list'>,
  { contactId, emailId, digest, owner }: SignedLink & { owner: LinkedContact | undefined },
): Promise<ErasedRecipient[]> {
  const ids = [emailId, owner === undefined ? contactId : undefined]
  const named = await reader.list(findErasedByIds, {
    ids: JSON.stringify(ids.filter((id) => id !== undefined)),
  })
  if (named.length > 0 || digest === undefined) return named
  const alike = await reader.find(findErasedByDigest, { digest })
  return alike === undefined ? [] : [alike]
}
