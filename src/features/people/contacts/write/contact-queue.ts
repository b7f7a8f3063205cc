/**
 * The queue in which contacts that clients create or change wait for their transaction. Contacts
 * that wait at the same time are written together; a contact that a batch does not take
 * (`contact-batch.ts`) is written alone.
 */
import type { ParsedAddress } from '../../../../formats/address/address.ts'
import type { Store } from '../../../../store/store.ts'
import {
  ALONE,
  type Alone,
  createGatherer,
  type Gatherer,
} from '../../../../store/write/gatherer.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'
import { openContactBatches, weighData, writeContactBatches } from './contact-batch.ts'
import { parseData } from './data.ts'
import type { ContactEntry, EntryResult, SubscriptionRule } from './next-contact.ts'
import { upsertContacts } from './upsert.ts'

/** The input of `POST /contacts`. */
type ContactInput = {
  projectId: string
  address: ParsedAddress
  /** If undefined, an existing contact keeps its state, and a new contact is subscribed. */
  subscribed?: boolean | undefined
  /** The person asked the project to be unsubscribed. Goes with `subscribed: false`. */
  hasLeft?: boolean
  data?: unknown
}

type ContactPlan = { rule: SubscriptionRule; entry: ContactEntry }

export type ContactQueue = Gatherer<ContactPlan, EntryResult>

export function createContactQueue(store: Pick<Store, 'write' | 'recountCallers'>): ContactQueue {
  return createGatherer<ContactPlan, EntryResult>(store, {
    together: upsertTogether,
    alone: upsertAlone,
    weigh: ({ entry }) => weighData(entry.changes),
  })
}

/**
 * Creates or changes one contact.
 * @throws AppError VALIDATION_ERROR for data that breaks a limit
 */
export async function upsertContact(
  { contactQueue, now }: Pick<Base, 'now'> & { contactQueue: ContactQueue },
  { projectId, address, subscribed, hasLeft = false, data }: ContactInput,
): Promise<EntryResult> {
  const { changes } = parseData(data)
  const wish = { subscribed, subscribedByDefault: true, newWish: 'explicit' } as const
  const rule = { projectId, ...wish, at: now() }
  return contactQueue({ rule, entry: { address, changes, hasLeft } }, async (_, result) => result)
}

async function upsertTogether(
  tx: Tx,
  plans: readonly ContactPlan[],
): Promise<(EntryResult | Alone)[]> {
  const results = new Map<ContactPlan, EntryResult>()
  const opened = await openContactBatches(tx, plans, {
    projectOf: ({ rule }) => rule.projectId,
    addressesOf: ({ entry }) => [entry.address.address],
  })
  for (const { batch, plans: own } of opened) {
    for (const plan of own) {
      const [result] = batch.take(plan.rule, [plan.entry]) ?? []
      if (result !== undefined) results.set(plan, result)
    }
  }
  await writeContactBatches(tx, opened)
  return plans.map((plan) => results.get(plan) ?? ALONE)
}

async function upsertAlone(tx: Tx, { rule, entry }: ContactPlan): Promise<EntryResult> {
  const [upserted] = await upsertContacts(tx, { ...rule, reason: 'api' }, [entry])
  if (upserted === undefined) throw new TypeError('one entry gives one contact')
  return upserted
}
