/**
 * Changes one contact by its id. A contact keeps its history when its address changes. A
 * suppression belongs to an address: a contact that gets a suppressed address is unsubscribed with
 * the reason of the suppression, unless the same change sets `subscribed`. A contact that gets the
 * address of a person who left is unsubscribed, too.
 */
import { AppError } from '../../../../base/errors.ts'
import type { ParsedAddress } from '../../../../formats/address/address.ts'
import { addressDigest, eachOf, jsonItem } from '../../../../store/dialect.ts'
import { and, eq, sql } from '../../../../store/drizzle.ts'
import { type Contact, contacts } from '../../../../store/schema/contacts.ts'
import type { SuppressionReason } from '../../../../store/schema/words.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'
import { nameSuccessor, recordFormerAddress } from '../../wishes/erased-recipients.ts'
import {
  clearWish,
  endWishOfProject,
  isOwnWish,
  recordWishOfContact,
  recordWishOfProject,
} from '../../wishes/wishes.ts'
import { type ContactKey, loadContactIn } from '../read/find-contact.ts'
import { mergeData, parseData } from './data.ts'
import { REASON_OF_SUPPRESSION, type SubscriptionReason, writeContact } from './set-subscribed.ts'

/** Absent properties stay unchanged. */
type ContactChanges = {
  address?: ParsedAddress | undefined
  subscribed?: boolean | undefined
  /** The person asked the project to be unsubscribed. Goes with `subscribed: false`. */
  hasLeft?: boolean
  /** Null deletes all data. */
  data?: Record<string, unknown> | null | undefined
}

const selectOwner = statement((db) =>
  db
    .select({ id: contacts.id })
    .from(contacts)
    .where(
      and(
        eq(contacts.projectId, parameter('projectId')),
        eq(contacts.address, parameter('address')),
      ),
    ),
)

type UnsubscribeCause = { reason: SuppressionReason | 'left' }

/**
 * Finds why a contact that gets this address must be unsubscribed: the address is suppressed, or
 * its owner left.
 */
const findUnsubscribeCause = statement<UnsubscribeCause>(
  () => sql`select reason from suppressions
      where project_id = ${parameter('projectId')} and email = ${parameter('address')}
    union all select 'left' from wishes
      where digest = ${addressDigest(parameter('projectId'), parameter('address'))} and ${isOwnWish}
    limit 1`,
)

const updateAddress = statement((db) =>
  db
    .update(contacts)
    .set({ address: parameter('address') })
    .where(eq(contacts.id, parameter('id'))),
)

type Written = Pick<Contact, 'id' | 'data' | 'updatedAt'>

const item = (index: number) => jsonItem(sql`row.value`, index)

/**
 * `rows`: lists of an id, the data as JSON text, and an instant. One statement, because triggers read the data:
 * with one for each contact, SQLite would copy the pages that they change each time.
 */
const saveData = statement(
  () => sql`update contacts set data = ${item(1)}, updated_at = ${item(2)}
    from ${eachOf(parameter('rows'))} as row where contacts.id = ${item(0)}`,
)

/**
 * Returns the contact after the change; writes nothing if nothing differs.
 * @throws AppError CONTACT_NOT_FOUND (also for another project's), CONFLICT when another contact of
 *   the project has the address, VALIDATION_ERROR for data that breaks a limit
 */
export async function updateContact(
  { store, now }: Pick<Base, 'store' | 'now'>,
  key: ContactKey,
  changes: ContactChanges,
): Promise<Contact> {
  const { subscribed: given, hasLeft = false, data } = changes
  const read = data ? parseData(data).changes : data
  return store.write(async (tx) => {
    const at = now()
    const before = await loadContactIn(tx, key)
    const merged = read === null ? null : mergeData(before.data, read ?? {})
    const address = changes.address?.address ?? before.address
    const cause =
      address === before.address ? undefined : await changeAddress(tx, before, { address, at })
    const subscribed = given ?? (before.subscribed && cause === undefined)
    const contact = { ...before, address, subscribed, data: merged, updatedAt: at }
    if (given === true) await clearWish(tx, contact)
    else if (subscribed && address !== before.address) await endWishOfProject(tx, contact)
    if (hasLeft) await recordWishOfContact(tx, { contactId: before.id, kind: 'unknown', at })
    else if (given === false && !before.subscribed) {
      await recordWishOfProject(tx, { contactId: before.id, at })
    }
    if (isSame(before, contact)) return before
    const reason = given === undefined ? (cause ?? 'api') : 'api'
    await writeContact(tx, { before, contact, reason })
    return contact
  })
}

/** Writes the data of existing contacts, and no other column but the time of the change. */
export async function writeContactData(tx: Tx, contacts: readonly Written[]): Promise<void> {
  if (contacts.length === 0) return
  const rows = contacts.map(({ id, data, updatedAt }) => [
    id,
    data === null ? null : JSON.stringify(data),
    updatedAt,
  ])
  await tx.execute(saveData, { rows: JSON.stringify(rows) })
}

function isSame(before: Contact, contact: Contact): boolean {
  const { address, subscribed, data } = contact
  return address === before.address && subscribed === before.subscribed && data === before.data
}

/**
 * Sets the address. Returns the reason to unsubscribe the contact, if the address is suppressed or its
 * owner left.
 * @throws AppError CONFLICT when another contact has the address
 */
async function changeAddress(
  tx: Tx,
  before: Contact,
  { address, at }: { address: string; at: number },
): Promise<SubscriptionReason | undefined> {
  const { projectId, id } = before
  if ((await tx.find(selectOwner, { projectId, address })) !== undefined) {
    throw new AppError('CONFLICT', 'Another contact of this project has that address.')
  }
  await tx.execute(updateAddress, { id, address })
  await recordFormerAddress(tx, { projectId, contactId: id, address: before.address, at })
  await nameSuccessor(tx, { projectId, address, contactId: id })
  const cause = await tx.find(findUnsubscribeCause, { projectId, address })
  if (cause === undefined) return undefined
  return cause.reason === 'left' ? 'api' : REASON_OF_SUPPRESSION[cause.reason]
}
