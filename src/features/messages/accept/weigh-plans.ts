/**
 * Decides, without a write, which plans of one project can be accepted together, and what becomes of their
 * contacts. Left out are plans whose contacts need more than a new row or other data: a person who left or
 * was erased, a change of `subscribed`; and those that would be refused: marketing for an unsubscribed contact, data
 * that is too large.
 */
import { isInvalid } from '../../../errors.ts'
import type { Contact } from '../../../store/schema/contacts.ts'
import type { KnownAddresses } from '../../contacts/read/known-addresses.ts'
import { changedContact, newContact, weighEntry } from '../../contacts/write/next-contact.ts'
import { needsSubscription, toEntry, toRule } from './contact-entries.ts'
import type { EmailPlan } from './plan.ts'

/** A plan that can be accepted, with its contacts in the order of its recipients. */
export type WeighedPlan = { plan: EmailPlan; contacts: Contact[] }

export type WeighedPlans = {
  plans: WeighedPlan[]
  /** Contacts that the plans add, as they are after all plans. */
  added: Contact[]
  /** Contacts that existed, with their new data. */
  changed: Contact[]
}

/** The plans are weighed in their order: each sees the contacts as they are after those before. */
export function weighPlans(known: KnownAddresses, plans: readonly EmailPlan[]): WeighedPlans {
  const current = new Map(known.contacts)
  const weighed: WeighedPlan[] = []
  for (const plan of plans) {
    const contacts = weighPlan({ ...known, contacts: current }, plan)
    if (contacts === undefined) continue
    weighed.push({ plan, contacts })
    for (const contact of contacts) current.set(contact.address, contact)
  }
  const different = [...current.values()].filter(
    (contact) => known.contacts.get(contact.address) !== contact,
  )
  return {
    plans: weighed,
    added: different.filter(({ address }) => !known.contacts.has(address)),
    changed: different.filter(({ address }) => known.contacts.has(address)),
  }
}

/** Undefined if the plan cannot be accepted together with others. */
function weighPlan(known: KnownAddresses, plan: EmailPlan): Contact[] | undefined {
  const changes = new Map<string, Contact>()
  const contacts: Contact[] = []
  for (const recipient of plan.request.to) {
    const { address } = recipient.address
    if (known.left.has(address) || known.withdrawn.has(address) || known.erased.has(address)) {
      return undefined
    }
    const before = changes.get(address) ?? known.contacts.get(address)
    const contact = weighContact(known, plan, { recipient, before })
    if (contact === undefined) return undefined
    changes.set(address, contact)
    contacts.push(contact)
  }
  return contacts
}

type Recipient = EmailPlan['request']['to'][number]

function weighContact(
  { left, suppressed }: KnownAddresses,
  plan: EmailPlan,
  { recipient, before }: { recipient: Recipient; before: Contact | undefined },
): Contact | undefined {
  const { subscribed } = plan.request
  if (needsSubscription(plan) && !(subscribed ?? before?.subscribed)) return undefined
  const rule = toRule(plan)
  const entry = toEntry(plan, recipient)
  const wish = weighEntry({ rule, left }, entry, before)
  const contact = withoutRefusal(() =>
    before === undefined
      ? newContact({ rule, suppressed }, entry, wish)
      : changedContact(rule, before, { changes: entry.changes, given: wish.given }),
  )
  if (contact === undefined || (needsSubscription(plan) && !contact.subscribed)) return undefined
  // Else the change is an event, or unsubscribing again a wish.
  const isSame = before === undefined || before.subscribed === contact.subscribed
  return isSame && (before === undefined || subscribed !== false) ? contact : undefined
}

/** Undefined in place of an error for data that becomes too large. */
function withoutRefusal(weigh: () => Contact): Contact | undefined {
  try {
    return weigh()
  } catch (error) {
    if (isInvalid(error)) return undefined
    throw error
  }
}
