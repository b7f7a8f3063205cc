/**
 * A change of one contact, by its id. A new address keeps the contact and its history; the project's
 * suppressions belong to addresses, so a contact that gets a suppressed one is unsubscribed with
 * that reason, unless the same change says otherwise.
 */
import { AppError } from '../../../errors.ts'
import type { ParsedAddress } from '../../../mail/address/address.ts'
import { and, eq } from '../../../store/drizzle.ts'
import { type Contact, contacts } from '../../../store/schema/contacts.ts'
import { suppressions } from '../../../store/schema/suppressions.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import type { Base } from '../../base.ts'
import { type ContactKey, getContactIn } from '../read/get.ts'
import { mergeData, parseData } from './data.ts'
import { noteWish } from './unsubscribe-wish.ts'
import { keepContact, type SubscriptionReason, suppressionReasons } from './upsert.ts'

/** What is left out stays. */
export type ContactChanges = {
  address?: ParsedAddress | undefined
  subscribed?: boolean | undefined
  /** Null: without any. */
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

const selectSuppression = statement((db) =>
  db
    .select({ reason: suppressions.reason })
    .from(suppressions)
    .where(
      and(
        eq(suppressions.projectId, parameter('projectId')),
        eq(suppressions.address, parameter('address')),
      ),
    ),
)

const updateAddress = statement((db) =>
  db
    .update(contacts)
    .set({ address: parameter('address') })
    .where(eq(contacts.id, parameter('id'))),
)

/**
 * The contact as it is then; nothing is written where nothing differs.
 * @throws AppError CONTACT_NOT_FOUND (also for another project's), CONFLICT when another contact of
 *   the project has the address, VALIDATION_ERROR for data that breaks a limit
 */
export async function updateContact(
  { store, now }: Pick<Base, 'store' | 'now'>,
  target: ContactKey,
  changes: ContactChanges,
): Promise<Contact> {
  const { subscribed: given, data } = changes
  const read = data ? parseData(data).changes : data
  return store.write(async (tx) => {
    const before = await getContactIn(tx, target)
    const merged = read === null ? null : mergeData(before.data, read ?? {})
    const address = changes.address?.address ?? before.address
    const cause =
      address === before.address ? undefined : await takeAddress(tx, { ...before, address })
    const subscribed = given ?? (before.subscribed && cause === undefined)
    const contact = { ...before, address, subscribed, data: merged, updatedAt: now() }
    if (given === false && !before.subscribed) {
      await noteWish(tx, { contactId: before.id, at: contact.updatedAt })
    }
    if (isSame(before, contact)) return before
    const reason = given === undefined ? (cause ?? 'api') : 'api'
    await keepContact(tx, { before, contact, reason })
    return contact
  })
}

function isSame(before: Contact, contact: Contact): boolean {
  const { address, subscribed, data } = contact
  return address === before.address && subscribed === before.subscribed && data === before.data
}

/** What the new address is suppressed for, as a reason to unsubscribe. @throws AppError CONFLICT */
async function takeAddress(tx: Tx, contact: Contact): Promise<SubscriptionReason | undefined> {
  const { projectId, address, id } = contact
  if ((await tx.find(selectOwner, { projectId, address })) !== undefined) {
    throw new AppError('CONFLICT', 'Another contact of this project has that address.')
  }
  await tx.execute(updateAddress, { id, address })
  const suppression = await tx.find(selectSuppression, { projectId, address })
  return suppression && suppressionReasons[suppression.reason]
}
