/** What a plan does with the contacts of its recipients. */
import type { NamedMailbox } from '../../../../formats/address/named-mailbox.ts'
import type { ContactEntry, SubscriptionRule } from '../../../people/contacts/write/next-contact.ts'
import type { EmailPlan } from './plan.ts'

/** Whether the emails go to subscribed contacts only. */
export function needsSubscription({ contentClass, origin }: EmailPlan): boolean {
  return contentClass === 'MARKETING' && origin.isTest !== true
}

/** Only a request for one contact says in so many words that this person wants mail again. */
export function isForOne({ to }: EmailPlan['request']): boolean {
  return to.every(({ address }) => address.address === to[0]?.address.address)
}

export function toRule({ project, request, at }: EmailPlan): SubscriptionRule {
  return {
    projectId: project.id,
    subscribed: request.subscribed,
    subscribedByDefault: false,
    newWish: isForOne(request) ? 'explicit' : undefined,
    at,
  }
}

/** What the request's data say of the name counts, also a null. */
export function toEntry({ data }: EmailPlan, { address, name }: NamedMailbox): ContactEntry {
  return { address, changes: name === null ? data.changes : { name, ...data.changes } }
}
